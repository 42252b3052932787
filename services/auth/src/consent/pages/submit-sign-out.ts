import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReplyContent } from '@svc/service-kit';
import { clearedSessionCookies, endSession, findBrowserSession, readPagesCookie } from '../../sessions/index.ts';
import type { PagesDeps } from './pages-deps.ts';
import { backToAuthorize, readForm } from './read-form.ts';

/** Ends the session of this browser ("Not you?") and shows the sign-in form. */
export const submitSignOut = async (
  deps: PagesDeps,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const found = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  if (found !== undefined) await endSession(deps, found.session.id);
  res.appendHeader('set-cookie', clearedSessionCookies(deps.publicBaseUrl));
  return backToAuthorize(deps, read.form);
};
