/** Pages that ask a person to connect an app or a device, and send those without a plan here. */
const ASKING_PAGE = /^\/v1\/integrations\/oauth\/(authorize|device)\?[!-[\]-~]*$/;
/** Longest address that the checkout leads back to. */
const URL_CHARACTERS_MAX = 2_048;

/** Returns the page that asked, to which the choice of a plan leads back. */
export const readReturnTarget = (search: URLSearchParams): string | undefined => {
  const next = search.get('next');
  return next !== null && ASKING_PAGE.test(next) ? next : undefined;
};

/** Adds the page that asked to an address of ours, if the address does not get too long. */
export const withReturnTarget = (url: string, target: string | undefined): string => {
  if (target === undefined) return url;
  const extended = new URL(url);
  extended.searchParams.set('next', target);
  return extended.href.length > URL_CHARACTERS_MAX ? url : extended.href;
};
