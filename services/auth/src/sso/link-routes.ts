import type { IncomingMessage, ServerResponse } from 'node:http';
import { FORM_BYTES_MAX, type Locale, localeSchema, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type ReplyContent, readBodyBytes } from '@svc/service-kit';
import { isOwnOrigin } from '../cookies-and-origins.ts';
import { IdentityTaken } from '../identities.ts';
import {
  type ConsoleFrameDeps,
  finishByForm,
  messageFor,
  pageText,
  preferredLocale,
  refusedFormPage,
  secondFactorPage,
  seeOther,
} from '../pages/index.ts';
import { type StartedSession, type StartSessionDeps, sessionCookies, signInOriginOf } from '../sessions/index.ts';
import {
  completeLink,
  confirmMailedLink,
  hasPassword,
  type LinkDeps,
  linkByPassword,
  mailLink,
} from './link-account.ts';
import {
  confirmPage,
  type LinkFrame,
  linkedPage,
  linkFaultPage,
  linkPage,
  linkSecondFactorFrame,
  mailedPage,
} from './link-pages.ts';
import type { PendingLink, SsoCookies } from './sso-cookie.ts';

export interface LinkRoutesDeps extends LinkDeps, StartSessionDeps, ConsoleFrameDeps {
  readonly cookies: SsoCookies;
}

interface PageRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

/** Binds the pages on which a person proves the account to which an identity is to be linked. They need no script. */
export const linkRoutes = (deps: LinkRoutesDeps): Binding[] => [
  bind(routes.showIdentityLink, async ({ query, req }) => {
    const frame = frameOf(deps, query.locale ?? preferredLocale(req));
    const link = deps.cookies.pendingLink.read(req.headers.cookie);
    if (link === undefined) return linkFaultPage(frame, 'over');
    return linkPage(frame, { link, hasPassword: await hasPassword(deps, link) });
  }),
  bind(routes.linkIdentity, (request) => submit(deps, request, submitPassword)),
  bind(routes.finishIdentityLink, (request) => submit(deps, request, submitSecondFactor)),
  bind(routes.mailIdentityLink, (request) =>
    submit(deps, request, async ({ frame, link }) => {
      await mailLink(deps, link);
      return mailedPage(frame, link);
    }),
  ),
  bind(routes.showMailedIdentityLink, async ({ query, req }) =>
    confirmPage(frameOf(deps, query.locale ?? preferredLocale(req)), query.token ?? ''),
  ),
  bind(routes.confirmMailedIdentityLink, async (request) => {
    const form = await readLinkForm(deps, request);
    if ('reply' in form) return form.reply;
    try {
      await confirmMailedLink(deps, form.fields.get('token') ?? '');
      return linkedPage(form.frame);
    } catch (error) {
      return faultReply(error, form.frame);
    }
  }),
];

const frameOf = ({ providerName }: LinkRoutesDeps, locale: Locale): LinkFrame => ({ locale, provider: providerName });

type LinkForm = { fields: URLSearchParams; frame: LinkFrame } | { reply: ReplyContent };

/** Parses a form. Refuses one from another site. */
const readLinkForm = async (deps: LinkRoutesDeps, { req }: PageRequest): Promise<LinkForm> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const locale = localeSchema.safeParse(fields.get('locale')).data ?? preferredLocale(req);
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (holdsNul || !isOwnOrigin(req.headers.origin, deps.publicBaseUrl)) return { reply: refusedFormPage(locale) };
  return { fields, frame: frameOf(deps, locale) };
};

interface Submitted {
  readonly fields: URLSearchParams;
  readonly frame: LinkFrame;
  readonly link: PendingLink;
  readonly request: PageRequest;
}

const submit = async (
  deps: LinkRoutesDeps,
  request: PageRequest,
  handle: (submitted: Submitted, deps: LinkRoutesDeps) => Promise<ReplyContent>,
): Promise<ReplyContent> => {
  const form = await readLinkForm(deps, request);
  if ('reply' in form) return form.reply;
  const link = deps.cookies.pendingLink.read(request.req.headers.cookie);
  if (link === undefined) return linkFaultPage(form.frame, 'over');
  try {
    return await handle({ ...form, link, request }, deps);
  } catch (error) {
    return faultReply(error, form.frame);
  }
};

const submitPassword = async (
  { fields, frame, link, request }: Submitted,
  deps: LinkRoutesDeps,
): Promise<ReplyContent> => {
  try {
    const origin = signInOriginOf(request, deps.publicBaseUrl);
    const outcome = await linkByPassword(deps, { link, password: fields.get('password') ?? '' }, origin);
    if ('started' in outcome) return enter(deps, request, { started: outcome.started, link });
    return secondFactorPage(linkSecondFactorFrame(deps, frame, link), outcome);
  } catch (error) {
    const message = messageFor(error, pageText(frame.locale));
    if (message === undefined) throw error;
    return linkPage(frame, { link, hasPassword: true, error: message });
  }
};

const submitSecondFactor = async (
  { fields, frame, link, request }: Submitted,
  deps: LinkRoutesDeps,
): Promise<ReplyContent> => {
  const origin = signInOriginOf(request, deps.publicBaseUrl);
  const form = { fields, text: pageText(frame.locale), origin };
  const outcome = await finishByForm(deps, form, { complete: completeLink(deps, link) });
  if ('started' in outcome) return enter(deps, request, { started: outcome.started, link });
  if ('step' in outcome) return secondFactorPage(linkSecondFactorFrame(deps, frame, link), outcome);
  return linkPage(frame, { link, hasPassword: true, error: outcome.refused.errors.form });
};

const enter = (
  deps: LinkRoutesDeps,
  { res }: PageRequest,
  { started, link }: { started: StartedSession; link: PendingLink },
): ReplyContent => {
  res.appendHeader('set-cookie', sessionCookies(started, deps.publicBaseUrl));
  res.appendHeader('set-cookie', deps.cookies.pendingLink.clear());
  return seeOther(`${deps.publicBaseUrl}${link.returnTo}`);
};

const faultReply = (error: unknown, frame: LinkFrame): ReplyContent => {
  if (error instanceof IdentityTaken) return linkFaultPage(frame, 'taken');
  if (error instanceof AppError && error.code === 'token_invalid') return linkFaultPage(frame, 'void');
  throw error;
};
