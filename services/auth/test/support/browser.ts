import type { AuthService } from './auth-service.ts';

/** A page as a browser shows it, with the form it would send back. */
export interface Shown {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Target of a redirect. */
  readonly location: string | undefined;
}

/** Keeps cookies and sends forms as a browser does; follows redirects within the service only. */
export interface Browser {
  readonly cookies: Map<string, string>;
  readonly open: (pathOrUrl: string, headers?: Record<string, string>) => Promise<Shown>;
  /** The same, but stops at the first redirect. */
  readonly openOnce: (pathOrUrl: string) => Promise<Shown>;
  /** Sends the form of the page whose action ends so, with these values typed in. */
  readonly submit: (page: Shown, action: string, values?: Record<string, string>) => Promise<Shown>;
  /** The same, but stops at the first redirect. */
  readonly submitOnce: (page: Shown, action: string, values?: Record<string, string>) => Promise<Shown>;
}

export const newBrowser = (service: AuthService): Browser => {
  const cookies = new Map<string, string>();
  const send = async (url: string, init: RequestInit = {}): Promise<Shown> => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) keep(cookies, cookie);
    const location = response.headers.get('location') ?? undefined;
    return { status: response.status, headers: response.headers, text: await response.text(), location };
  };
  const follow = async (shown: Shown): Promise<Shown> =>
    shown.location !== undefined && new URL(shown.location, service.url).origin === service.url
      ? follow(await send(new URL(shown.location, service.url).href))
      : shown;
  const submitOnce: Browser['submitOnce'] = (page, action, values = {}) => {
    const form = formOf(page, action);
    return send(new URL(form.path, service.url).href, {
      method: 'POST',
      body: new URLSearchParams({ ...form.hidden, ...values }),
      headers: { origin: service.url },
    });
  };
  return {
    cookies,
    open: async (pathOrUrl, headers = {}) => follow(await send(new URL(pathOrUrl, service.url).href, { headers })),
    openOnce: (pathOrUrl) => send(new URL(pathOrUrl, service.url).href),
    submitOnce,
    submit: async (page, action, values) => follow(await submitOnce(page, action, values)),
  };
};

const keep = (cookies: Map<string, string>, header: string): void => {
  const [pair = '', ...attributes] = header.split('; ');
  const [name = '', value = ''] = pair.split('=', 2);
  if (attributes.includes('Max-Age=0')) cookies.delete(name);
  else cookies.set(name, value);
};

/** Path and hidden fields of a form. Throws where the page has no such form. */
const formOf = (page: Shown, action: string): { path: string; hidden: Record<string, string> } => {
  const form = new RegExp(`<form[^>]*action="([^"]*/${action})"[^>]*>(.*?)</form>`, 's').exec(page.text);
  const [, path = '', content = ''] = form ?? [];
  if (form === null) throw new Error(`no form ${action} in ${page.status} ${page.text.slice(0, 2_000)}`);
  const fields = content.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  const decoded = [...fields].map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]);
  return { path, hidden: Object.fromEntries(decoded) };
};
