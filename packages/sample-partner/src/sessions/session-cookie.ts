import type { Request, Response } from 'express';

/** Cookies of one host are shared by all its ports, so the name is one that nobody else uses. */
const NAME = 'sample_partner_session';
/** `Lax`: the callback is a navigation that another site begins. No `Secure`, as a loopback address has no https here. */
const OPTIONS = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** The session's identifier that a browser has sent. */
export const readSessionCookie = (request: Request): string | undefined =>
  request.headers.cookie
    ?.split(/;\s*/)
    .find((pair) => pair.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1);

/** Gives a browser its session. */
export const setSessionCookie = (response: Response, id: string): void => {
  response.cookie(NAME, id, OPTIONS);
};

/** Takes it away again. */
export const clearSessionCookie = (response: Response): void => {
  response.clearCookie(NAME, OPTIONS);
};
