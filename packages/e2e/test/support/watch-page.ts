import type { Page } from 'playwright-core';

/** Unwanted behavior of pages. */
export interface PageWatch {
  /** Browser errors, above all policy violations, without the expected ones. */
  readonly complaints: () => string[];
  /** Requests to foreign origins. */
  readonly outside: () => string[];
  readonly follow: (page: Page) => Page;
}

/** Watches pages for browser errors and requests to foreign origins. */
export const watchPages = (home: readonly string[], foreseen: RegExp = /^$/): PageWatch => {
  const complaints: string[] = [];
  const outside: string[] = [];
  return {
    complaints: () => complaints.filter((text) => !foreseen.test(text)),
    outside: () => outside,
    follow: (page) => {
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('request', (sent) => {
        const url = sent.url();
        if (!url.startsWith('data:') && !home.includes(new URL(url).origin)) outside.push(url);
      });
      return page;
    },
  };
};
