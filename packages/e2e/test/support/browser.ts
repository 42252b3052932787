import { type Browser, chromium } from 'playwright-core';

/** Starts a headless browser. */
export const startBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
