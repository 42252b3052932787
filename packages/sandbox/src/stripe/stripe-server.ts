import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type SubscriptionStatus, sandboxRoutes } from '@svc/contracts';
import { html } from '@svc/pages';
import {
  AppError,
  type Binding,
  bind,
  createLogger,
  createMetrics,
  createServiceApp,
  invalidField,
  type ReplyContent,
} from '@svc/service-kit';
import type { Account } from './account.ts';
import {
  advanceSubscription,
  nowOf,
  readHosted,
  type SubscriptionView,
  updateSettings,
} from './advance-subscription.ts';
import type { ApiResponse } from './answer-api-request.ts';
import { checkoutRoutes } from './checkout-routes.ts';
import type { SendEvent } from './events.ts';
import { clockOf, ended, type HostedSubscription, hasEnded, isFinal, paid } from './hosted-subscription.ts';
import type { HostedInvoice } from './invoice.ts';
import { saveChange } from './invoice-change.ts';
import { toHostedInvoice } from './invoices.ts';
import type { Fields } from './objects.ts';
import { invoiceLines, renderInvoicePdf, SELLER } from './pages/invoice-page.ts';
import { pageReply, replyToMissing } from './pages/page.ts';
import { languageOf, type PageLanguage } from './pages/page-language.ts';
import { portalRoutes } from './portal-routes.ts';
import type { StripeStandIn } from './stripe-stand-in.ts';
import { findSubscription } from './subscriptions.ts';

export const invoicePage = (invoice: HostedInvoice, language: PageLanguage): ReplyContent => {
  const lines = invoiceLines(invoice, language);
  const text = language.text.invoice;
  const row = ([label, amount]: readonly [string, string]) => html`<div><dt>${label}</dt><dd>${amount}</dd></div>`;
  const pdf = `/sandbox/payments/invoices/${encodeURIComponent(invoice.id)}/pdf?locale=${language.locale}`;
  const body = html`<section><h1>${lines.title}</h1>
<p class="note">${lines.issued} · ${lines.status}</p>
<p>${text.seller}: ${SELLER.name}, ${text.vatNumber(SELLER.vatNumber)}</p>
<p>${text.buyer}: ${lines.buyer.join(', ')}</p>
<p>${lines.item}${lines.period !== null && html`<br><span class="note">${lines.period}</span>`}</p>
<dl>${lines.amounts.map(row)}<div class="total"><dt>${lines.total[0]}</dt><dd>${lines.total[1]}</dd></div></dl>
${lines.reverseCharge !== null && html`<p class="note">${lines.reverseCharge}</p>`}
<p class="note">${text.notFiscal}</p>
<a class="button" href="${pdf}">${text.download}</a></section>`;
  return pageReply({ title: lines.title, body, layout: 'narrow', language, redirects: [] });
};

/** Routes of invoices. Their ids cannot be guessed, so knowing one is enough to see it. */
const invoiceRoutes = ({ objects }: Account): Binding[] => {
  const find = (id: string): HostedInvoice | undefined => {
    const invoice = objects.of('invoice', id);
    return invoice && toHostedInvoice(invoice);
  };
  return [
    bind(sandboxRoutes.showSandboxInvoice, async ({ params, query, req }) => {
      const invoice = find(params.invoice_id);
      if (invoice === undefined) return replyToMissing(req, query.locale);
      return invoicePage(invoice, languageOf(req, query.locale));
    }),
    bind(sandboxRoutes.getSandboxInvoicePdf, async ({ params, query, req }) => {
      const invoice = find(params.invoice_id);
      if (invoice === undefined) throw new AppError('not_found');
      return {
        status: 200,
        contentType: 'application/pdf',
        body: await renderInvoicePdf(invoice, languageOf(req, query.locale)),
        headers: { 'content-disposition': `inline; filename="${invoice.number}.pdf"`, vary: 'accept-language' },
      };
    }),
  ];
};

/** Sets the status of a subscription and returns the one that it then has. Throws 422 if the present status is final. */
const playStatus = async (account: Account, id: string, status: SubscriptionStatus): Promise<SubscriptionStatus> => {
  const before = readHosted(account, id);
  if (before.status === status) return status;
  if (isFinal(before.status)) {
    const message = `Value error, a subscription that is ${before.status} stays so`;
    throw invalidField(['body', 'status'], 'value_error', message);
  }
  const at = clockOf(before, nowOf(account));
  saveChange(account, { before, after: withStatus(before, status, at), at });
  await account.announce();
  return readHosted(account, id).status;
};

const withStatus = (subscription: HostedSubscription, status: SubscriptionStatus, now: Date): HostedSubscription => {
  if (status === 'active' || status === 'trialing') return { ...paid(subscription, now), status };
  if (hasEnded(status)) return ended(subscription, status, now);
  return { ...subscription, status, endedAt: null, failedAttempts: 0, nextAttemptAt: null };
};

/** Routes that play states, set cards and move clocks. */
const controlRoutes = (account: Account): Binding[] => {
  const stripeIdOf = (id: string): string => {
    const subscription = findSubscription(account, id);
    if (subscription === undefined) throw new AppError('not_found');
    return subscription.id;
  };
  const replyWith = (id: string, view: SubscriptionView) => ({ status: 200 as const, body: { id, ...view } });
  return [
    bind(sandboxRoutes.playSandboxSubscription, async ({ params: { subscription_id: id }, body }) => {
      const status = await playStatus(account, stripeIdOf(id), body.status);
      return { status: 200, body: { id, status } };
    }),
    bind(sandboxRoutes.updateSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, updateSettings(account, stripeIdOf(id), body)),
    ),
    bind(sandboxRoutes.advanceSandboxSubscription, async ({ params: { subscription_id: id }, body }) =>
      replyWith(id, await advanceSubscription(account, stripeIdOf(id), body.seconds)),
    ),
  ];
};

/** Parses form keys such as `a[b][0][c]` into a nested object. */
export const parseForm = (pairs: URLSearchParams): Fields => {
  const root: Fields = {};
  for (const [name, value] of pairs) {
    const keys = name.split(/[[\]]+/).filter((key) => key !== '');
    let place: Fields = root;
    for (const [index, key] of keys.entries()) {
      const isLast = index === keys.length - 1;
      const next = /^\d+$/.test(keys[index + 1] ?? '') ? [] : {};
      place[key] ??= isLast ? value : next;
      // The value is one of the two containers created above.
      if (!isLast) place = place[key] as Fields;
    }
  }
  return root;
};

/** Routes below `/sandbox/payments`: the hosted pages, and the controls that replace a browser and time. */
const pageBindings = (account: Account): Binding[] => [
  ...checkoutRoutes(account),
  ...portalRoutes(account),
  ...invoiceRoutes(account),
  ...controlRoutes(account),
];

const DELIVERY_TIMEOUT_MS = 20_000;
const BODY_BYTES_MAX = 1024 * 1024;

export interface StripeServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Serves the API below `/v1/`, and the hosted pages and controls below `/sandbox/payments/`. */
export const startStripeServer = async (
  standIn: StripeStandIn,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<StripeServer> => {
  const pages = createServiceApp({
    service: 'billing',
    bindings: pageBindings(standIn.account),
    contract: Object.values(sandboxRoutes),
    authenticate: {},
    logger: createLogger({ service: 'sandbox-payments', level: 'silent' }),
    metrics: createMetrics('sandbox-payments'),
  });
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url ?? '', 'http://stripe.test');
    if (pathname.startsWith('/v1/')) void serveApi(standIn, req, res);
    else if (pathname === '/healthz') respond(res, { status: 200, body: { status: 'ok' } });
    else pages(req, res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // It listens on a port.
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${taken}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Delivers events to an endpoint over HTTP. */
export const sendOverHttp =
  (endpoint: () => string): SendEvent =>
  async (body, signature) => {
    try {
      const response = await fetch(endpoint(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body,
        signal: AbortSignal.timeout(DELIVERY_TIMEOUT_MS),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  };

const serveApi = async (standIn: StripeStandIn, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const { pathname: path, search } = new URL(req.url ?? '', 'http://stripe.test');
  const body = await readText(req);
  if (body === undefined) {
    respond(res, { status: 413, body: { error: { type: 'invalid_request_error', message: 'The body is too large' } } });
    return;
  }
  const key = req.headers['idempotency-key'];
  const answer = await standIn.answer({
    method: req.method ?? '',
    path,
    params: parseForm(new URLSearchParams(body || search)),
    isAuthorized: req.headers.authorization?.startsWith('Bearer sk_') === true,
    idempotencyKey: typeof key === 'string' ? key : undefined,
    version: req.headers['stripe-version']?.toString(),
  });
  if (answer === undefined) req.socket.destroy();
  else respond(res, answer);
};

const readText = async (req: IncomingMessage): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of req) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

const respond = (res: ServerResponse, { status, body }: ApiResponse): void => {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_of_stripe' });
  res.end(JSON.stringify(body));
};
