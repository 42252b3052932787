/** Stops `npm pack` and `npm publish`: npm ignores `publishConfig.exports`, so its package could not be imported. */
const packer = process.env['npm_config_user_agent']?.split('/', 1)[0];
if (packer === 'npm') {
  console.error('npm would pack a broken manifest. Pack with `npx pnpm pack`, publish with `npx pnpm publish`.');
  process.exitCode = 1;
}
