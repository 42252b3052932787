/**
 * Name of the cookie that tells the console which page to show at `/`. It holds no secret: it only says that this browser
 * has signed in and not out since. Over https it has the prefix `__Host-`.
 */
export const SIGNED_IN_COOKIE = 'svc_signed_in';
