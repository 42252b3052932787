import { trustedUrl } from '../trusted-url.ts';

/** Registers the service worker, which stores the console's files, once the first page is complete. */
export const registerWorker = (): void => {
  if (!('serviceWorker' in navigator)) return;
  const register = (): void => {
    // Without it, the console works but opens only with a connection.
    navigator.serviceWorker.register(trustedUrl('/service-worker.js')).catch(() => undefined);
  };
  if (document.readyState === 'complete') register();
  else window.addEventListener('load', register, { once: true });
};
