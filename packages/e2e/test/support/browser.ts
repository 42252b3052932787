import { CHROMIUM_ARGS } from '@svc/testing';
import { type Browser, chromium } from 'playwright-core';

export const startBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: CHROMIUM_ARGS });
