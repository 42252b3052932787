import type { IncomingMessage } from 'node:http';
import type { Macs } from '@svc/secrets';
import { AppError, type ReplyContent } from '@svc/service-kit';
import { requestVerification } from '../accounts/index.ts';
import { originOf } from '../connections/index.ts';
import { digestOpaqueValue, findCodeState, newCode } from '../oauth/index.ts';
import { FORM_MS, pageText, seeOther, unavailablePage } from '../pages/index.ts';
import { type BrowserSession, findBrowserSession, readPagesCookie } from '../sessions/index.ts';
import { later } from '../time.ts';
import { backToAuthorize, judgeQuery, type ReadForm, readForm, showConsent } from './authorize-page.ts';
import { readBudgetFields } from './budget-form.ts';
import {
  approvalRedirect,
  approve,
  DecidedBefore,
  type Decision,
  deny,
  insertDeniedForm,
  isDeniedForm,
} from './decide-consent.ts';
import { decidedPage } from './fault-pages.ts';
import { type AskedForm, createPageContext, type PagesDeps, toAuthorizeRequest } from './page-context.ts';

/** Records a decision and redirects the browser to the app. Idempotent: the same form leads to the same redirect. */
export const submitDecision = async (
  deps: PagesDeps,
  { req, source }: { req: IncomingMessage; source: string },
): Promise<ReplyContent> => {
  const read = await readForm(deps, req);
  if (!read.isTaken) return read.reply;
  const { form, fields } = read;
  const decision = { request: toAuthorizeRequest(form.query, form.isPushed), state: form.query.state };
  const budget = readBudgetFields(fields);
  if (fields.get('decision') !== 'approve') return await denyForGood(deps, decision, form);
  const found = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  // Only the person shown on the page may approve. After a sign-out, or a sign-in in another tab, it asks again.
  if (found === undefined || found.session.id !== form.sessionId) return backToAuthorize(deps, form);
  if (deps.isVerificationRequired && found.account.emailVerifiedAt === null) {
    await requestVerification(deps, found.account.id);
    return await askAgain(deps, read, { session: found, notice: pageText(form.query.locale).verifyFirst });
  }
  if (budget === 'invalid') return await askAgain(deps, read, { session: found });
  const person = { userId: found.account.id, sessionId: found.session.id, origin: originOf(source, 'browser') };
  return await approveOnce(deps, { ...decision, ...person, budget }, form);
};

/** Renders the page again, with the submitted limit. */
const askAgain = async (
  deps: PagesDeps,
  { form, fields, app }: Extract<ReadForm, { isTaken: true }>,
  { session, notice }: { session: BrowserSession; notice?: string },
): Promise<ReplyContent> => {
  const judged = await judgeQuery(deps, form, null);
  if (!judged.isValid) return backToAuthorize(deps, form);
  const context = createPageContext(deps, { ...form, app, session });
  const again = { context, session, judged, typedLimit: fields.get('limit') ?? '' };
  return await showConsent(deps, notice === undefined ? again : { ...again, notice });
};

/**
 * Denies the request of this form for good: a copy kept by the browser can no longer approve it. Opening its address
 * again starts a new request.
 */
const denyForGood = async (
  deps: PagesDeps,
  decision: Pick<Decision, 'request' | 'state'>,
  form: AskedForm,
): Promise<ReplyContent> => {
  const target = await deny(deps, decision);
  // A form without a session cannot approve anything, and visitors who are not signed in must not make us store
  // anything.
  if (form.sessionId === undefined) return seeOther(target);
  const [code] = codesOf(deps.decisionMacs, form);
  await insertDeniedForm(deps.database, { digest: digestOpaqueValue(code), expiresAt: later(deps.clock(), FORM_MS) });
  return seeOther(target);
};

const approveOnce = async (deps: PagesDeps, decision: Decision, form: AskedForm): Promise<ReplyContent> => {
  const [code, ...others] = codesOf(deps.decisionMacs, form);
  if (await isDeniedForm(deps.database, [code, ...others].map(digestOpaqueValue)))
    return decidedPage(form.query.locale);
  // A replica with another current key may have issued the code of this form.
  for (const other of others) {
    const answer = await repeatAnswer(deps, { ...decision, code: other }, form);
    if (answer !== undefined) return answer;
  }
  try {
    return seeOther(await approve(deps, decision, code));
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_token') return backToAuthorize(deps, form);
    if (error instanceof AppError && error.code === 'service_unavailable') return unavailablePage(form.query.locale);
    if (!(error instanceof DecidedBefore)) throw error;
  }
  return (await repeatAnswer(deps, { ...decision, code }, form)) ?? decidedPage(form.query.locale);
};

/** Answers a double click, whose first answer did not arrive, as before. Returns undefined if the code was never issued. */
const repeatAnswer = async (
  deps: PagesDeps,
  decided: Decision & { readonly code: string },
  form: AskedForm,
): Promise<ReplyContent | undefined> => {
  const state = await findCodeState(deps.database, digestOpaqueValue(decided.code));
  if (state === undefined) return undefined;
  // A code that the app has used must not be sent to it again.
  return state === 'redeemable' ? seeOther(approvalRedirect(deps, decided)) : decidedPage(form.query.locale);
};

/**
 * Derives the code from the form, so that a repeated form gets the same answer without storing the code. Returns the code of the
 * current key first, then those of the others.
 */
const codesOf = (macs: Macs, form: AskedForm): readonly [string, ...string[]] => {
  const data = `${form.nonce}.${form.sessionId ?? ''}.${form.browserId}`;
  const codes = macs.candidates(data).map((mac) => newCode(mac));
  return [newCode(macs.sign(data)), ...codes.slice(1)];
};
