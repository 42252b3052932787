import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const WIRING = new URL('../src/wire-payments.ts', import.meta.url).href;
const CONFIG = { STRIPE_SECRET_KEY: 'sk_test', STRIPE_API_BASE: 'http://127.0.0.1:1', SWEEP_INTERVAL_MS: 1000 };

/** Wires the provider in a separate process and returns the URLs of the modules that it loads. */
const modulesOf = async (payments: 'sandbox' | 'stripe'): Promise<string[]> => {
  const script = `
    import { registerHooks } from 'node:module';
    const urls = [];
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
    const { wirePayments } = await import(${JSON.stringify(WIRING)});
    const config = ${JSON.stringify({ ...CONFIG, PAYMENTS: payments })};
    await wirePayments({ config, metrics: { gauge: () => ({}) } });
    process.stdout.write(JSON.stringify(urls));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout);
};

test.each([
  ['stripe', '/payments/stripe/', '/sandbox-payments/'],
  ['sandbox', '/sandbox-payments/', '/payments/stripe/'],
] as const)('loads only the code of %s', async (payments, own, other) => {
  const urls = await modulesOf(payments);
  expect(urls.some((url) => url.includes(own))).toBe(true);
  expect(urls.filter((url) => url.includes(other))).toEqual([]);
});
