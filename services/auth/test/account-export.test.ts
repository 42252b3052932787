import type { ServerResponse } from 'node:http';
import { type Listener, listen } from '@svc/service-kit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { newPerson, type Person } from './support/partner.ts';

/** More than the head that is kept back until the status is certain. */
const LARGE = JSON.stringify({ rows: ['x'.repeat(100 * 1024)] });

let service: AuthService;
let holders: Listener;
let person: Person;
/** Answers for the gateway; the other holders answer an empty object. */
let answerForGateway: (res: ServerResponse) => void;

beforeAll(async () => {
  holders = await listen(
    (req, res) => {
      res.setHeader('content-type', 'application/json');
      if (req.url?.startsWith('/internal/inference-gateway/') === true) answerForGateway(res);
      else res.end('{}');
    },
    { port: 0, host: '127.0.0.1' },
  );
  const { url } = holders;
  service = await startAuthService({
    BILLING_INTERNAL_URL: url,
    INFERENCE_GATEWAY_INTERNAL_URL: url,
    WEBHOOK_DISPATCHER_INTERNAL_URL: url,
  });
  person = await newPerson(service);
});
afterAll(async () => {
  await service?.stop();
  await holders?.drain(0);
});
beforeEach(() => {
  answerForGateway = (res) => res.end(LARGE);
});

const exportData = () =>
  fetch(`${service.url}/v1/console/account/export`, { headers: { authorization: `Bearer ${person.token}` } });

describe('the export of an account', () => {
  test('contains the part of each service', async () => {
    const answer = await exportData();
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      svc_user_id: person.userId,
      billing: {},
      inference_gateway: JSON.parse(LARGE),
      webhook_dispatcher: {},
      auth: { account: [{ email: person.email }] },
    });
  });

  test('is refused with 503 if a service breaks off before the first byte was sent', async () => {
    answerForGateway = (res) => res.write('{"rows":[', () => res.destroy());
    const answer = await exportData();
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ detail: { code: 'service_unavailable' } });
  });

  test('ends the connection abnormally if a service breaks off later', async () => {
    answerForGateway = (res) => res.write(LARGE.slice(0, -1), () => res.destroy());
    const answer = await exportData();
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
  });
});
