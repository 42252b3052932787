import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CHROMIUM_ARGS, findChromium } from '@svc/testing';
import { chromium } from 'playwright-core';

/** Path of the browser, or undefined; its absence has been reported loudly. */
export const chromiumPath = await findChromium();

/** A tab of Chromium. */
export interface Page {
  readonly goto: (address: string) => Promise<void>;
  /** Evaluates an expression in the page. Rejects with the error that it throws. */
  readonly run: <T>(expression: string) => Promise<T>;
  /** Evaluates an expression and returns the address of the request that it causes. The request is not sent. */
  readonly waitForRequest: (prefix: string, expression: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

interface PageOptions {
  readonly port: number;
  /** A file of `oidc-client-ts` for browsers. */
  readonly library: string;
  readonly script: string;
}

/** Serves one page at a port and opens a tab. */
export const openPage = async ({ port, library, script }: PageOptions): Promise<Page> => {
  const folder = dirname(createRequire(import.meta.url).resolve('oidc-client-ts/package.json'));
  const files: Readonly<Record<string, string>> = {
    '/library.js': await readFile(join(folder, 'dist', 'browser', library), 'utf8'),
    '/app.js': script,
  };
  const html = '<!doctype html><title>App</title><script src="/library.js"></script><script src="/app.js"></script>';
  const server = createServer(({ url = '' }, response) => {
    const file = files[url];
    response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
    response.end(file ?? html);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const browser = await chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    args: CHROMIUM_ARGS,
  });
  const page = await browser.newPage();
  return {
    goto: async (address) => void (await page.goto(address)),
    run: (expression) => page.evaluate(expression),
    waitForRequest: async (prefix, expression) => {
      const isMeant = (url: URL): boolean => url.href.startsWith(prefix);
      await page.route(isMeant, (route) => route.abort());
      const request = page.waitForRequest((each) => each.url().startsWith(prefix));
      await page.evaluate(expression);
      const address = (await request).url();
      await page.unroute(isMeant);
      return address;
    },
    close: async () => {
      await browser.close();
      server.close();
    },
  };
};
