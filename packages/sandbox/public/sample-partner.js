// Progressive enhancement: streamed text, live usage bars, and an inbox that updates itself.

const INBOX_WAIT_SECONDS = 25;
const RETRY_MS = 3_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Refetches a page and replaces the element with this id. */
const swapPart = async (path, id) => {
  const response = await fetch(path, { headers: { accept: 'text/html' } });
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById(id);
  if (fresh !== null) document.getElementById(id)?.replaceWith(document.adoptNode(fresh));
};

/** Yields the JSON values of a body, one per line. */
async function* readLines(body) {
  let rest = '';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line);
  }
}

const showProblem = (place, { message, action }) => {
  place.className = 'problem';
  place.setAttribute('role', 'alert');
  place.replaceChildren(message);
  if (action === undefined) return;
  const link = document.createElement('a');
  link.href = action.href;
  link.textContent = action.label;
  place.append(' ', link);
};

const addMessage = (conversation, role, text) => {
  const [message, who, words] = ['p', 'b', 'span'].map((name) => document.createElement(name));
  message.className = role;
  who.textContent = role === 'user' ? chat.dataset.you : 'svc';
  words.textContent = text;
  message.append(who, ' ', words);
  conversation.append(message);
  return { message, words };
};

const sendChat = async (form) => {
  const conversation = document.getElementById('conversation');
  const fields = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  addMessage(conversation, 'user', fields.get('message'));
  const { message, words } = addMessage(conversation, 'assistant', '');
  message.setAttribute('aria-busy', 'true');
  let isDone = false;
  try {
    const headers = { accept: 'application/x-ndjson' };
    const response = await fetch(form.action, { method: 'POST', headers, body: fields });
    for await (const line of readLines(response.body)) {
      if (line.text !== undefined) words.append(line.text);
      if (line.done !== undefined) isDone = true;
      if (line.problem !== undefined) {
        showProblem(conversation.appendChild(document.createElement('p')), line.problem);
        return;
      }
    }
  } finally {
    message.setAttribute('aria-busy', 'false');
    if (words.textContent === '') message.remove();
    if (isDone) form.reset();
  }
  if (!isDone) throw new TypeError('the response is incomplete');
};

const chat = document.getElementById('chat');
chat?.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = chat.querySelector('button');
  const status = chat.querySelector('.status');
  // A disabled button loses the focus, and the next message is typed here anyway.
  chat.elements.message.focus();
  button.disabled = true;
  status.textContent = chat.dataset.answering;
  try {
    await sendChat(chat);
  } catch {
    const problem = document.createElement('p');
    document.getElementById('conversation').append(problem);
    showProblem(problem, { message: chat.dataset.silent });
  }
  status.textContent = '';
  button.disabled = false;
  await swapPart('/', 'usage').catch(() => undefined);
});

for (const form of document.querySelectorAll('form[data-busy]')) {
  form.addEventListener('submit', () => {
    form.querySelector('.status').textContent = form.dataset.busy;
    form.querySelector('button').disabled = true;
  });
}
// A page restored from the back-forward cache may have a disabled form.
addEventListener('pageshow', (event) => {
  if (event.persisted) location.reload();
});

/** Long-polls for deliveries and shows each. */
const followInbox = async () => {
  for (;;) {
    const last = document.getElementById('inbox').dataset.last;
    try {
      const response = await fetch(`/inbox.json?after=${last}&wait_seconds=${INBOX_WAIT_SECONDS}`);
      const { data } = await response.json();
      if (data.length > 0) await swapPart('/inbox', 'inbox');
    } catch {
      await pause(RETRY_MS);
    }
  }
};
if (document.querySelector('[data-live]') !== null) void followInbox();
