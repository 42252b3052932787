import type { Request, Response } from 'express';

/** All ports of a host share their cookies, so the name must be unique. */
const NAME = 'sample_partner_session';
/** `Lax`: the callback is a navigation from another site. Not `Secure`: the loopback address has no https. */
const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Reads the session id from a request. */
export const readSessionCookie = (request: Request): string | undefined =>
  request.headers.cookie
    ?.split(/;\s*/)
    .find((pair) => pair.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);

export const setSessionCookie = (response: Response, id: string): void => {
  response.cookie(NAME, id, OPTIONS);
};

export const clearSessionCookie = (response: Response): void => {
  response.clearCookie(NAME, OPTIONS);
};
