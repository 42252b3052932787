/** Where to go after signing in: only ever a page of our own, whatever the address bar says. */
export const safeNext = (next: string | null): string => {
  if (next === null || !next.startsWith('/') || /^\/[/\\]/.test(next)) return '/';
  // Control characters are dropped by browsers and could hide a second slash.
  return [...next].some((character) => character <= ' ') ? '/' : next;
};
