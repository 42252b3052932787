import type { IncomingMessage } from 'node:http';
import { FORM_BYTES_MAX } from '@svc/contracts';
import { type ReplyContent, readBodyBytes } from '@svc/service-kit';
import type { AppRecord } from '../../apps/index.ts';
import { readBrowserId } from './browser-cookie.ts';
import type { FormContext } from './form-token.ts';
import { faultPage, refusedFormPage } from './message-pages.ts';
import { type AskedRequest, authorizePath } from './page-context.ts';
import type { PagesDeps } from './pages-deps.ts';
import { preferredLocale } from './preferred-locale.ts';
import { seeOther } from './see-other.ts';
import { judgeQuery } from './show-authorize-page.ts';

/** A recent form of this browser, for an app that may still ask; or the refusal. */
export type ReadForm =
  | { readonly isTaken: true; readonly fields: URLSearchParams; readonly form: FormContext; readonly app: AppRecord }
  | { readonly isTaken: false; readonly reply: ReplyContent };

/** Parses a form of the pages and checks everything in its hidden field anew. */
export const readForm = async (deps: PagesDeps, req: IncomingMessage): Promise<ReadForm> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const read = deps.formTokens.read(fields.get('request') ?? '', readBrowserId(req, deps.publicBaseUrl));
  // No browser sends NUL, and no column of ours can hold it.
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (read === undefined || holdsNul) return { isTaken: false, reply: refusedFormPage(preferredLocale(req)) };
  const { query } = read.context;
  const judged = await judgeQuery(deps, read.context, null);
  if (!judged.isValid) return { isTaken: false, reply: faultPage(query.locale, judged.faults[0] ?? 'unknown_app') };
  // Renders the page again with a fresh form for the same request.
  if (read.isExpired) return { isTaken: false, reply: backToAuthorize(deps, read.context) };
  return { isTaken: true, fields, form: read.context, app: judged.app };
};

/** Redirects back to the authorize page. */
export const backToAuthorize = (deps: PagesDeps, asked: AskedRequest): ReplyContent =>
  seeOther(`${deps.publicBaseUrl}${authorizePath(deps, asked)}`);
