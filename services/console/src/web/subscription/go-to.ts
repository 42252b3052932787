/** Sends the browser to an address. Tests replace it. */
type Assign = (url: string) => void;

/** Redirects the browser to a hosted page of the payment provider. Throws for anything but a web address. */
export const goTo = (url: string, assign: Assign = (target) => window.location.assign(target)): void => {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('not a web address');
  assign(url);
};

/** Returns a page of ours as an address to which others can redirect the browser. */
export const ownUrl = (path: string): string => new URL(path, window.location.origin).href;
