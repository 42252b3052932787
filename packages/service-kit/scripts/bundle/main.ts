import { relative } from 'node:path';
import { bundleService } from './bundle-service.ts';

// Run in a package's folder by its `build` script. Arguments replace the default entries.
const { files, bytes } = await bundleService(process.cwd(), process.argv.slice(2));
for (const file of files) process.stdout.write(`${relative(process.cwd(), file)}\n`);
process.stdout.write(`${files.length} files, ${Math.ceil(bytes / 1024)} KiB\n`);
