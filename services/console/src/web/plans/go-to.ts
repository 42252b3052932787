/** Sends the browser to an address. Tests replace it. */
type Assign = (url: string) => void;

/** Sends the browser to a hosted page of the payment provider. Throws on anything that is not a web address. */
export const goTo = (url: string, assign: Assign = (target) => window.location.assign(target)): void => {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('not a web address');
  assign(url);
};

/** A page of ours as an address that others can send the browser back to. */
export const ownUrl = (path: string): string => new URL(path, window.location.origin).href;
