const ORGANIZATION = /^\/o\/([^/]+)(?=\/|$)/;

/** Returns the organization that an address is about; undefined for the account that is signed in. */
export const organizationIn = (pathname: string): string | undefined => ORGANIZATION.exec(pathname)?.[1];

/** Returns the start of the addresses of an organization's pages. */
export const basePathOf = (organizationId: string | undefined): string =>
  organizationId === undefined ? '' : `/o/${organizationId}`;

/** Returns a link to a page of an organization, or of the account that is signed in, from any other page. */
export const linkTo = (organizationId: string | undefined, page = '/'): string =>
  `~${basePathOf(organizationId)}${page}`;

/** Returns a page of the present organization as an address to which others can redirect the browser. */
export const ownUrl = (page: string): string => {
  const { pathname, origin } = window.location;
  return new URL(`${basePathOf(organizationIn(pathname))}${page}`, origin).href;
};
