/** A partner's code on the types of openapi-typescript. */
export const typesConsumer = `import type { operations, paths, webhooks } from './api';

type Usage = paths['/v1/integrations/usage']['get']['responses'][200]['content']['application/json'];
type TokenForm = operations['issueToken']['requestBody']['content']['application/x-www-form-urlencoded'];
type Missed = paths['/v1/integrations/webhook/events']['get']['parameters']['query'];
type Test = webhooks['integration.test']['post']['requestBody']['content']['application/json'];

export const left = ({ app }: Usage): number => (app.limit_micros ?? 0) - app.used_micros - app.held_micros;
export const form = { grant_type: 'refresh_token', client_id: 'app_1', refresh_token: 'rt_1' } satisfies TokenForm;
export const query: Missed = { after_sequence: 7, limit: 100 };
export const sequenceOf = (event: Test): number => event.sequence;
`;

/** A partner's code on the client of hey-api. */
export const heyApiConsumer = `import { getIntegrationUsage, issueToken, listOwnWebhookEvents } from './api';

export const left = async (auth: string): Promise<number> => {
  const { data } = await getIntegrationUsage({ auth, throwOnError: true });
  return (data.app.limit_micros ?? 0) - data.app.used_micros - data.app.held_micros;
};
export const refresh = async (refresh_token: string): Promise<string | undefined> => {
  const { data, error } = await issueToken({ body: { grant_type: 'refresh_token', client_id: 'app_1', refresh_token } });
  return error === undefined ? data?.access_token : undefined;
};
export const missed = () => listOwnWebhookEvents({ query: { after_sequence: 7, limit: 100 } });
`;

/** A partner's code on the fetch client of orval. */
export const fetchConsumer = `import { getIntegrationUsage, issueToken, listOwnWebhookEvents } from './api';

export const left = async (token: string): Promise<number> => {
  const answer = await getIntegrationUsage({ headers: { authorization: token } });
  if (answer.status !== 200) throw new Error(String(answer.status));
  return (answer.data.app.limit_micros ?? 0) - answer.data.app.used_micros - answer.data.app.held_micros;
};
export const refresh = async (refresh_token: string): Promise<string | undefined> => {
  const answer = await issueToken({ grant_type: 'refresh_token', client_id: 'app_1', refresh_token });
  return answer.status === 200 ? answer.data.access_token : undefined;
};
export const missed = () => listOwnWebhookEvents({ after_sequence: 7, limit: 100 });
`;
