import { relative } from 'node:path';
import { bundleService } from './bundle-service.ts';

// Run in a service's folder, by its `build` script.
const { files, bytes } = await bundleService(process.cwd());
for (const file of files) process.stdout.write(`${relative(process.cwd(), file)}\n`);
process.stdout.write(`${files.length} files, ${Math.ceil(bytes / 1024)} KiB\n`);
