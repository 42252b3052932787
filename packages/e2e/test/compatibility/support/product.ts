/** Parsed JSON whose shape is checked by assertions, not by types. */
export interface LooseJson {
  [key: string]: LooseJson;
}

const CALL_TIMEOUT_MS = 30_000;

/** Calls the product with JSON and returns the JSON of the response. Throws unless the status is 2xx. */
export const call = async (
  method: 'GET' | 'POST' | 'PUT',
  address: string,
  { body, token }: { readonly body?: object; readonly token?: string } = {},
): Promise<LooseJson> => {
  const response = await fetch(address, {
    method,
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
  return text === '' ? {} : JSON.parse(text);
};
