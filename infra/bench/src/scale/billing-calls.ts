import { newId } from '@svc/contracts';
import type { BareClient } from '../harness/http.ts';
import { timed } from '../harness/load.ts';

const APP = newId('app');
const HOLDER = crypto.randomUUID();
const UNLIMITED = { requests_per_minute: null, tokens_per_minute: null, monthly_limit_micros: null };
const COST = 300;
const HOLD = 500;

/** Milliseconds of the calls for one request. */
export interface Cycle {
  readonly admission: number;
  readonly settlement: number;
}

/** Admits and settles a delegated request. */
export const delegatedCycle = async (client: BareClient, userId: string): Promise<Cycle> => {
  const requestId = newId('req');
  const question = {
    request_id: requestId,
    svc_user_id: userId,
    client_id: APP,
    service: 'chat',
    estimate_micros: HOLD,
    // Lets billing look for an earlier request with the same key.
    idempotency_key: requestId,
  };
  let verdict = '';
  const admission = await timed(async () => {
    verdict = await decide(client, '/internal/admission-batches', { requests: [question] });
  });
  if (verdict !== 'admitted') throw new Error(`an admission returned ${verdict}`);
  const settlement = await settle(client, { request_id: requestId, svc_user_id: userId });
  return { admission, settlement };
};

/** Leases what one request of an API key needs, settles the request and ends the lease. */
export const keyCycle = async (client: BareClient, userId: string): Promise<Cycle> => {
  const keyId = userId.replace('usr_', 'key_');
  const requestId = newId('req');
  const leaseId = crypto.randomUUID();
  const need = { request_id: requestId, micros: HOLD, known_micros: 0, tokens: 1, tokens_least: 1 };
  const ask = (returned: number, isEnded: boolean) => ({
    holder_id: HOLDER,
    asks: [
      {
        lease_id: leaseId,
        svc_user_id: userId,
        key_id: keyId,
        member_id: null,
        limits: UNLIMITED,
        report: { returned_micros: returned, known_micros: 0, returned_in_minute: null, is_ended: isEnded },
        needs: isEnded ? [] : [need],
        wanted: { micros: 0, requests: 0, tokens: 0 },
      },
    ],
  });
  let verdict = '';
  const admission = await timed(async () => {
    verdict = await decide(client, '/internal/leases', ask(0, false));
  });
  if (verdict !== 'granted') throw new Error(`an ask for a lease returned ${verdict}`);
  const settlement = await settle(client, {
    request_id: requestId,
    svc_user_id: userId,
    key: {
      lease_id: leaseId,
      hold_micros: HOLD,
      key_id: keyId,
      started_at: new Date().toISOString(),
      estimate_micros: HOLD,
    },
  });
  await client.post('/internal/leases', JSON.stringify(ask(HOLD - COST, true)));
  return { admission, settlement };
};

const decide = async (client: BareClient, path: string, body: object): Promise<string> => {
  const answer = await client.post(path, JSON.stringify(body));
  return /"verdict":"(\w+)"/.exec(answer)?.[1] ?? answer;
};

const settle = async (client: BareClient, request: object): Promise<number> => {
  const settlements = [{ ...request, result: { outcome: 'settled', cost_micros: COST } }];
  return await timed(async () => {
    const answer = await client.post('/internal/settlements', JSON.stringify({ settlements }));
    if (!answer.includes('"settled"')) throw new Error(`a settlement returned ${answer}`);
  });
};
