import type { RecordedAct, Role } from '@svc/contracts';
import { listen } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import type { AuthService } from './auth-service.ts';
import { type Answer, call, textAt } from './http.ts';
import type { Mailbox } from './mailbox.ts';
import { newPerson, type Person } from './partner.ts';

/** Speaks the routes of the other services that organizations need, and export nothing. */
export interface Holders {
  /** Addresses of the services, for the environment of auth. */
  readonly environment: Record<string, string>;
  /** `plan_id` by member. */
  readonly seats: Map<string, string>;
  /** Acts that each service has recorded, in any order. */
  readonly acts: Record<'billing' | 'inference-gateway' | 'webhook-dispatcher', RecordedAct[]>;
  /** Answers 503 to paths that contain this text. */
  down: string | undefined;
  readonly stop: () => Promise<void>;
}

export const startHolders = async (): Promise<Holders> => {
  const listener = await listen(
    (req, res) => {
      const { status, body } = answer(holders, req.url ?? '');
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    },
    { port: 0, host: '127.0.0.1' },
  );
  const { url } = listener;
  const holders: Holders = {
    environment: {
      BILLING_INTERNAL_URL: url,
      INFERENCE_GATEWAY_INTERNAL_URL: url,
      WEBHOOK_DISPATCHER_INTERNAL_URL: url,
    },
    seats: new Map(),
    acts: { billing: [], 'inference-gateway': [], 'webhook-dispatcher': [] },
    down: undefined,
    stop: async () => void (await listener.drain(0)),
  };
  return holders;
};

const answer = (holders: Holders, path: string): { status: number; body: object } => {
  if (holders.down !== undefined && path.includes(holders.down)) {
    return { status: 503, body: { detail: { code: 'service_unavailable', message: '' } } };
  }
  if (path.endsWith('/seats')) {
    const data = [...holders.seats].map(([svc_user_id, plan_id]) => ({ svc_user_id, plan_id }));
    return { status: 200, body: { data } };
  }
  const { pathname, searchParams } = new URL(path, 'http://holders');
  const service = /^\/internal\/(billing|inference-gateway|webhook-dispatcher)\/acts\//.exec(pathname)?.[1];
  if (service === undefined) return { status: 200, body: {} };
  // The pattern above admits these names only.
  const acts = holders.acts[service as keyof Holders['acts']];
  const after = searchParams.get('after');
  const data = acts
    .filter(({ id, action }) => (after === null || id < after) && action === (searchParams.get('action') ?? action))
    .toSorted((one, other) => (one.id < other.id ? 1 : -1))
    .slice(0, Number(searchParams.get('limit')));
  return { status: 200, body: { data } };
};

/** An organization, signed in as its first owner. */
export type Organization = Person;

/** A person who is a member of an organization. */
export interface Member extends Person {
  /** Token that acts for the organization. */
  readonly acting: string;
}

export const organizationPath = (service: Pick<AuthService, 'url'>, path: string): string =>
  `${service.url}/v1/console/organization${path}`;

/** Invites an address, and returns the token of the mailed link. */
export const inviteTo = async (
  service: AuthService,
  mailbox: Mailbox,
  { token, email, role }: { token: string; email: string; role: Role },
): Promise<string> => {
  const before = mailbox.mailsTo(email).length;
  const invited = await call(organizationPath(service, '/invitations'), { token, json: { email, role } });
  if (invited.status !== 201) throw new Error(`invite: ${invited.status} ${invited.text}`);
  await waitFor(() => mailbox.mailsTo(email).length > before);
  return await mailbox.tokenFor(email, 'invitations');
};

export const accept = (service: AuthService, person: Person, token: string): Promise<Answer> =>
  call(organizationPath(service, '/invitations/accept'), { token: person.token, json: { token } });

export const switchTo = (
  service: Pick<AuthService, 'url'>,
  token: string,
  organizationId: string | null,
): Promise<Answer> =>
  call(`${service.url}/v1/console/session/organization`, { token, json: { organization_id: organizationId } });

/** Lets a new person join an organization and act for it. */
export const newMember = async (
  service: AuthService,
  mailbox: Mailbox,
  { organization, role }: { organization: Organization; role: Role },
): Promise<Member> => {
  const person = await newPerson(service);
  const link = await inviteTo(service, mailbox, { token: organization.token, email: person.email, role });
  const joined = await accept(service, person, link);
  if (joined.status !== 200) throw new Error(`accept: ${joined.status} ${joined.text}`);
  const switched = await switchTo(service, person.token, organization.userId);
  return { ...person, acting: textAt(switched, 'session_token') };
};

/** Adds a second factor to an account, and returns its id. */
export const addFactor = async (service: AuthService, token: string): Promise<string> => {
  const path = `${service.url}/v1/console/account/factors/totp`;
  const added = await call(path, { token, json: {} });
  const id = textAt(added, 'id');
  const secret = Secret.fromBase32(textAt(added, 'secret'));
  const code = new TOTP({ secret }).generate({ timestamp: service.clock().getTime() });
  const confirmed = await call(`${path}/${id}/confirm`, { token, json: { code } });
  if (confirmed.status !== 200) throw new Error(`confirm: ${confirmed.status} ${confirmed.text}`);
  return id;
};
