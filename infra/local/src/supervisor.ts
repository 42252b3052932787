import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

// Compiling the sources takes much of a start, so the cache is enabled before they are imported.
enableCompileCache(resolve(process.env['SVC_DATA_DIR'] || resolve(ROOT, '.local'), 'cache', 'compile'));
const { runLocalStack } = await import('./stack/run-local-stack.ts');
process.exitCode = await runLocalStack(process.env);
process.exit();
