/** Limit for shown text; a stream may be long. */
const CHARACTERS_MAX = 200_000;
const HEADERS = /^(content-type|retry-after|www-authenticate|location|x-request-id|x-ratelimit-.*|x-svc-.*)$/;

/** Shows a response as it arrives. */
export const showAnswer = async (
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
