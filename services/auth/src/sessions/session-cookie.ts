import { SESSION_SECONDS } from './session.ts';

/** Read by the authorize pages alone; JSON endpoints want the bearer token and never look at it. */
const NAME = 'svc_session';
const PATH = '/v1/integrations/oauth';

/** `Set-Cookie` that lets the authorize pages recognise the session. `Lax` lets it come along when an app sends the browser there. */
export const sessionCookie = (token: string, publicBaseUrl: string): string =>
  `${NAME}=${token}; ${attributes(publicBaseUrl)}; Max-Age=${SESSION_SECONDS}`;

/** `Set-Cookie` that forgets the session. */
export const clearedSessionCookie = (publicBaseUrl: string): string =>
  `${NAME}=; ${attributes(publicBaseUrl)}; Max-Age=0`;

/** The token in a `Cookie` header. */
export const readSessionCookie = (header: string | undefined): string | undefined => readCookie(header, NAME);

/** The value of a cookie, or undefined where it is absent or empty. */
export const readCookie = (header: string | undefined, name: string): string | undefined => {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return undefined;
};

const attributes = (publicBaseUrl: string): string => {
  const secure = publicBaseUrl.startsWith('https:') ? '; Secure' : '';
  return `Path=${PATH}; HttpOnly; SameSite=Lax${secure}`;
};
