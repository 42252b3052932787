import { basename } from 'node:path';

/** Stops `npm pack` and `npm publish`: npm ignores `publishConfig.exports`, so its package could not be imported. */
if (basename(process.env['npm_execpath'] ?? '') === 'npm-cli.js') {
  console.error('npm would pack a broken manifest. Pack with `npx pnpm pack`, publish with `npx pnpm publish`.');
  process.exitCode = 1;
}
