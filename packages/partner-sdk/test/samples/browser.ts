import { type BrowserApp, createBrowserApp } from '@svc/partner-sdk';

/** Call it when the page has loaded. Returns the app once a user is connected. */
export const openApp = async (baseUrl: string, clientId: string): Promise<BrowserApp | undefined> => {
  const app = createBrowserApp({ baseUrl, clientId });
  const connection = await app.completeConnect(); // Throws `ConnectError`, if the user declined for example.
  if (connection !== undefined) return app; // Call the service through `app.client`.
  await app.resume(); // After a reload: connects again without a page.
  return undefined; // Offer a button that calls `app.connect()`.
};
