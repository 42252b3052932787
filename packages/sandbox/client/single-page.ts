import {
  AppLimitError,
  ConnectionEndedError,
  remainingBudgetMicros,
  type SvcClient,
  SvcError,
  type Usage,
} from '@svc/partner-sdk';
import { SvcConnectElement } from '@svc/partner-sdk/element';

const MICROS_PER_CENT = 10_000;
const find = <T extends Element>(selector: string, type: new () => T): T => {
  const found = document.querySelector(selector);
  if (found instanceof type) return found;
  throw new TypeError(`the page has no ${selector}`);
};

/** Texts and settings that the server has put into the page. */
const { currency, locale, left, unlimited, you, ended, failed, change } = find('#single-page', HTMLElement).dataset;

const button = find('svc-connect', SvcConnectElement);
const usage = find('#page-usage', HTMLElement);
const conversation = find('#conversation', HTMLElement);
const form = find('#page-chat', HTMLFormElement);
const messages: { role: 'user' | 'assistant'; content: string }[] = [];

const showConnection = (): void => {
  for (const part of document.querySelectorAll<HTMLElement>('[data-connected]')) {
    part.hidden = (part.dataset['connected'] === 'yes') !== button.hasAttribute('connected');
  }
};

/** Formats micros in whole cents, rounded down. */
const money = (micros: number): string =>
  new Intl.NumberFormat(locale, { style: 'currency', currency: currency ?? 'EUR' }).format(
    Math.floor(micros / MICROS_PER_CENT) / 100,
  );

const describeUsage = (now: Usage): string => {
  const rest = remainingBudgetMicros(now);
  if (rest === undefined) return (unlimited ?? '').replace('{used}', money(now.app.used_micros));
  return (left ?? '').replace('{left}', money(rest)).replace('{limit}', money(now.app.limit_micros ?? 0));
};

const refreshUsage = async (client: SvcClient): Promise<void> => {
  const now = await client.usage();
  usage.textContent = describeUsage(now);
};

const addMessage = (role: 'user' | 'assistant', text: string): { message: HTMLElement; words: HTMLElement } => {
  const message = document.createElement('p');
  const who = document.createElement('b');
  const words = document.createElement('span');
  message.className = role;
  who.textContent = role === 'user' ? (you ?? '') : 'svc';
  words.textContent = text;
  message.append(who, ' ', words);
  conversation.append(message);
  return { message, words };
};

const showProblem = (error: unknown): void => {
  const problem = document.createElement('p');
  problem.className = 'problem';
  problem.role = 'alert';
  problem.textContent = error instanceof SvcError ? error.message : (failed ?? '');
  if (error instanceof ConnectionEndedError) problem.textContent = ended ?? '';
  if (error instanceof AppLimitError) {
    const link = document.createElement('a');
    link.href = error.manageUrl;
    link.textContent = change ?? '';
    problem.append(' ', link);
  }
  conversation.append(problem);
};

/** Shows the answer piece by piece, as it arrives. */
const answer = async (client: SvcClient, question: string): Promise<void> => {
  messages.push({ role: 'user', content: question });
  addMessage('user', question);
  const { message, words } = addMessage('assistant', '');
  message.ariaBusy = 'true';
  try {
    for await (const chunk of client.streamChat({ messages })) words.append(chunk.choices[0]?.delta.content ?? '');
    messages.push({ role: 'assistant', content: words.textContent });
  } catch (error) {
    messages.pop();
    showProblem(error);
    if (words.textContent === '') message.remove();
  } finally {
    message.ariaBusy = 'false';
  }
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { app } = button;
  const question = String(new FormData(form).get('message') ?? '').trim();
  const send = find('#page-chat button', HTMLButtonElement);
  if (app === undefined || question === '') return;
  send.disabled = true;
  await answer(app.client, question);
  send.disabled = false;
  form.reset();
  await refreshUsage(app.client).catch(() => undefined);
});

button.addEventListener('svc-connected', () => {
  showConnection();
  if (button.app !== undefined) refreshUsage(button.app.client).catch(showProblem);
});
button.addEventListener('svc-disconnected', () => {
  messages.length = 0;
  conversation.replaceChildren();
  showConnection();
});
showConnection();
