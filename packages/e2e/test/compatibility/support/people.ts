import { call } from './product.ts';

/** An account with a console session. */
export interface Person {
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

const PASSWORD = 'violet kettle marches north';
const TOP_UP_MICROS = 50_000_000;

/** Opens an account and signs it in. */
export const signUp = async (origin: string, accountType: 'personal' | 'business'): Promise<Person> => {
  const credentials = { email: `${accountType}@example.com`, password: PASSWORD };
  const business = accountType === 'business' ? { business_name: 'Example Business' } : {};
  await call('POST', `${origin}/v1/console/accounts`, {
    body: { ...credentials, account_type: accountType, ...business },
  });
  const session = await call('POST', `${origin}/v1/console/sessions`, { body: credentials });
  return { ...credentials, token: String(session['session_token']) };
};

/** Pays into the person's wallet and returns a new API key. */
export const buyKey = async (origin: string, { token }: Person): Promise<string> => {
  const topUp = { amount_micros: TOP_UP_MICROS, ...returnUrls(origin) };
  const { session_id } = await call('POST', `${origin}/v1/gateway/wallet/top-ups`, { body: topUp, token });
  await pay(origin, token, String(session_id));
  const { key } = await call('POST', `${origin}/v1/gateway/keys`, { body: { name: 'compatibility' }, token });
  return String(key);
};

/** Buys the first plan, which lets connected apps ask for inference. */
export const subscribe = async (origin: string, { token }: Person): Promise<void> => {
  const plans = await call('GET', `${origin}/v1/subscriptions/plans`);
  const order = { plan_id: plans['data']?.['0']?.['id'], ...returnUrls(origin) };
  const { session_id } = await call('POST', `${origin}/v1/subscriptions/checkout`, { body: order, token });
  await pay(origin, token, String(session_id));
};

const returnUrls = (origin: string) => ({ success_url: `${origin}/wallet`, cancel_url: `${origin}/wallet` });

const pay = async (origin: string, token: string, sessionId: string): Promise<void> => {
  await call('POST', `${origin}/sandbox/payments/sessions/${sessionId}/complete`, { body: {} });
  await call('POST', `${origin}/v1/subscriptions/checkout/confirm`, { body: { session_id: sessionId }, token });
};
