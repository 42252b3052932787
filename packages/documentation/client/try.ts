/** Limit for shown text; a stream may be long. */
const CHARACTERS_MAX = 200_000;
const HEADERS = /^(content-type|retry-after|www-authenticate|location|x-request-id|x-ratelimit-.*|x-svc-.*)$/;

/** Shows a response as it arrives. */
const showAnswer = async (
  response: Response,
  { status, answer }: { status: HTMLElement; answer: HTMLElement },
): Promise<void> => {
  status.textContent = `${response.status} ${response.statusText}`.trim();
  const headers = [...response.headers].filter(([name]) => HEADERS.test(name));
  const head = headers.map(([name, value]) => `${name}: ${value}\n`).join('');
  answer.textContent = head === '' ? '' : `${head}\n`;
  answer.hidden = false;
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('json')) answer.append(pretty(await response.text()));
  else if (type.startsWith('image/')) answer.append(`${(await response.blob()).size} bytes`);
  else await appendText(response, answer);
};

const pretty = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

const appendText = async (response: Response, answer: HTMLElement): Promise<void> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  for (let characters = 0; characters < CHARACTERS_MAX; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const text = decoder.decode(value, { stream: true });
    characters += text.length;
    answer.append(text);
  }
  await reader.cancel();
  answer.append('\n… and more');
};

const TIMEOUT_MS = 120_000;

/** Makes the forms work that send an operation's request to this server. */
export const enableTrying = (): void => {
  for (const button of document.querySelectorAll<HTMLButtonElement>('.credentials .resume')) enableResuming(button);
  for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
    for (const button of form.querySelectorAll('button')) button.disabled = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(form);
    });
  }
};

/** Resumes the session of the browser's cookie, as the console does. */
const enableResuming = (button: HTMLButtonElement): void => {
  button.addEventListener('click', async () => {
    const input = button.parentElement?.querySelector('input');
    if (!input) return;
    const response = await fetch('/v1/console/session/resume', { method: 'POST' }).catch(() => undefined);
    const session = response?.ok ? await response.json() : undefined;
    input.value = session?.session_token ?? '';
    button.textContent = session === undefined ? 'Sign in to the console first' : `You are ${session.account.email}`;
  });
};

const send = async (form: HTMLFormElement): Promise<void> => {
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]');
  const status = form.querySelector<HTMLElement>('.status');
  const answer = form.querySelector<HTMLElement>('.answer');
  if (!button || !status || !answer) return;
  button.disabled = true;
  status.textContent = 'Waiting…';
  answer.hidden = true;
  try {
    const startedAt = performance.now();
    const { address, ...request } = requestOf(form);
    const response = await fetch(address, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await showAnswer(response, { status, answer });
    status.textContent += `, ${Math.round(performance.now() - startedAt)} ms`;
  } catch (error) {
    status.textContent =
      error instanceof SyntaxError
        ? 'The body is not JSON.'
        : 'The response is incomplete. The usage shows whether it was billed.';
  }
  button.disabled = false;
};

const requestOf = (form: HTMLFormElement): RequestInit & { address: string } => {
  const { method = 'GET', path = '', credential = '', body: bodyType = '' } = form.dataset;
  const fields = [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-in]')];
  const isIn = (place: string) => fields.filter((field) => field.dataset['in'] === place && field.value !== '');
  const filled = isIn('path').reduce(
    (address, { name, value }) => address.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(isIn('query').map(({ name, value }) => [name, value]));
  const headers = new Headers(isIn('header').map(({ name, value }) => [name, value]));
  const token = document.querySelector<HTMLInputElement>(`input[data-credential="${credential}"]`)?.value ?? '';
  if (credential !== '' && token !== '') headers.set('authorization', `Bearer ${token}`);
  const body = bodyOf(bodyType, { json: isIn('json')[0]?.value ?? '', parts: isIn('form') });
  if (typeof body === 'string') headers.set('content-type', 'application/json');
  const address = query.size === 0 ? filled : `${filled}?${query}`;
  // Without cookies, so that a request cannot change the console's session.
  const request = { address, method, headers, credentials: 'omit' } as const;
  return body === undefined ? request : { ...request, body };
};

/** Throws a `SyntaxError` if a JSON body is invalid. */
const bodyOf = (
  type: string,
  { json, parts }: { json: string; parts: readonly (HTMLInputElement | HTMLTextAreaElement)[] },
): string | FormData | URLSearchParams | undefined => {
  if (type === 'application/json') return json.trim() === '' ? undefined : JSON.stringify(JSON.parse(json));
  if (type === '') return undefined;
  const form = new FormData();
  for (const part of parts) {
    const [file] = part instanceof HTMLInputElement ? (part.files ?? []) : [];
    form.append(part.name, file ?? part.value);
  }
  if (type === 'multipart/form-data') return form;
  return new URLSearchParams([...form].map(([name, value]) => [name, String(value)]));
};
