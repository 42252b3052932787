import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@svc/contracts';
import { afterEach, describe, expect, test } from 'vitest';
import type { AddressBook } from '../src/contexts.ts';
import { OperatorError } from '../src/operator-error.ts';
import { runCommand } from '../src/run-command.ts';

const open = new Set<Server>();
afterEach(() => {
  for (const server of open) server.close();
  open.clear();
});

/** Starts a service with programmed responses that records requests. */
const startService = async (answer: (request: string) => { status: number; body: unknown }) => {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    const { status, body } = answer(`${req.method} ${req.url}`);
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  open.add(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP listener's address is never a path.
  const { port } = server.address() as AddressInfo;
  return { asked, url: `http://127.0.0.1:${port}` };
};

const none = () => ({ file: '/contexts.yaml', contexts: {} });
const rest = { contexts: none, env: {}, version: '1.2.3' };

const run = async (line: string, urls: AddressBook['urls'] = {}) => {
  const lines: string[] = [];
  const addresses = () => ({ token: 'a-token', operator: 'an-operator', urls });
  const result = await runCommand(line.split(' ').filter(Boolean), {
    addresses,
    ...rest,
    print: (text) => lines.push(text),
  });
  return { ...result, text: lines.join('\n') };
};

const DOCS = new URL('../../../docs/', import.meta.url);
const guides = ['operators', 'one-machine', 'people', 'restore', 'rotate-secrets'].map((name) => `guides/${name}.md`);
const pages = [...guides, ...readdirSync(new URL('runbooks/', DOCS)).map((file) => `runbooks/${file}`)].map(
  (page) => [page, readFileSync(new URL(page, DOCS), 'utf8')] as const,
);
/** Command lines in code spans and blocks, with a value for each placeholder. */
const writtenCommands = pages.flatMap(([page, text]) =>
  [...text.matchAll(/`svc ([^`]+)`|^ *svc ([a-z].*)$/gm)].map(
    ([, span, line]) => [(span ?? line ?? '').replaceAll(/<[^>]+>/g, '1'), page] as const,
  ),
);

describe('the command line', () => {
  test.each(writtenCommands)('knows "svc %s" of docs/%s', async (line) => {
    const addresses = () => {
      throw new OperatorError('understood');
    };
    const { fault } = await runCommand(line.split(' '), { addresses, ...rest, print: () => undefined });
    expect(fault).toBe('understood');
  });

  test.each(['', 'help', '--help'])('"%s" lists every command', async (line) => {
    const { exitCode, text } = await run(line);
    expect(exitCode).toBe(0);
    for (const words of ['status', 'dead-letters replay', 'uncertain settle', 'signing-keys rotate', 'routes check']) {
      expect(text).toContain(`svc ${words}`);
    }
  });

  test.each([
    ['dead-letters explode', 2, 'there is no command'],
    ['status --loudly', 2, 'usage: svc status'],
    ['dead-letters list console', 2, '"console" is none of '],
    ['dead-letters replay billing', 2, 'name the dead letters'],
    ['dead-letters replay billing one', 2, '"one" is no id of a dead letter'],
    ['uncertain settle', 2, 'the request id is missing'],
    ['uncertain settle req_x', 2, 'either --cost-micros or --at-estimate'],
    ['uncertain settle req_x --cost-micros 1 --at-estimate', 2, 'either --cost-micros or --at-estimate'],
    ['uncertain settle req_x --cost-micros 1.5', 2, '--cost-micros is a whole number'],
    ['refund usr_x cs_x ticket-1', 2, '--amount-micros is a whole number'],
    ['account erase usr_x usr_y', 2, '"usr_y" is one argument too many'],
    ['after-restore auth', 2, '--restored-to is missing'],
    ['after-restore auth --restored-to 2026-11-25', 2, 'no RFC 3339 time'],
    ['after-restore auth --restored-to 2026-11-25T04:00:00', 2, 'no RFC 3339 time'],
    ['after-restore auth --restored-to 2026-13-25T04:00:00Z', 2, 'no RFC 3339 time'],
    ['after-restore auth --restored-to 9026-11-25T04:00:00Z', 2, '--restored-to is in the future'],
    ['uncertain list', 1, 'the address of billing is not known'],
    ['routes check /nowhere/at-all.yaml', 1, '/nowhere/at-all.yaml cannot be read'],
  ])('"%s" ends with %i and says why', async (line, exitCode, fault) => {
    const result = await run(line);
    expect(result.exitCode).toBe(exitCode);
    expect(result.fault).toContain(fault);
  });

  test.each([
    ['uncertain settle req-x --at-estimate', { billing: 'http://127.0.0.1:9' }, 'the request id is invalid'],
    ['refund usr_x cs_x ticket-1 --amount-micros 5', { billing: 'http://127.0.0.1:9' }, 'the amount micros is invalid'],
    ['account reset-factor x/../y', { auth: 'http://127.0.0.1:9' }, 'the svc user id is invalid'],
  ])('"%s" calls no service, and says which value is invalid', async (line, addresses, fault) => {
    const result = await run(line, addresses);
    expect(result.exitCode).toBe(2);
    expect(result.fault).toContain(fault);
    expect(result.fault).toContain('usage: svc ');
  });

  test('names the variables to set if no stack runs and no credential is given', async () => {
    const addresses = () => {
      throw new OperatorError('set it');
    };
    const result = await runCommand(['status'], { addresses, ...rest, print: () => undefined });
    expect(result).toEqual({ exitCode: 1, fault: 'set it' });
  });

  test('reports a refusal with its code, and an unreachable service', async () => {
    const refusing = await startService(() => ({
      status: 409,
      body: { detail: { code: 'signing_key_not_ready', message: 'Too early.' } },
    }));
    const refused = await run('signing-keys rotate some-kid', { auth: refusing.url });
    expect(refused).toMatchObject({ exitCode: 1, fault: 'signing_key_not_ready: Too early.' });
    const unreachable = await run('signing-keys list', { auth: 'http://127.0.0.1:9' });
    expect(unreachable.exitCode).toBe(1);
    expect(unreachable.fault).toContain('service_unavailable');
  });

  test('handles the existing dead letters and names the missing ones', async () => {
    const billing = await startService((request) =>
      request.includes('/1/')
        ? { status: 404, body: { detail: { code: 'not_found', message: 'There is no such resource.' } } }
        : { status: 200, body: { id: '2', outcome: 'discarded', error_code: null } },
    );
    const { exitCode, text } = await run('dead-letters discard billing 1 2', { billing: billing.url });
    expect(exitCode).toBe(1);
    expect(text).toMatch(/^1: no such dead letter.*\n2: discarded$/);
  });

  test('replays every page of dead letters and exits with 1 if one of them fails again', async () => {
    const letter = (id: string) => ({
      id,
      consumer: 'billing_usage',
      event_id: null,
      subject: 'inference.usage.recorded.v1',
      stream: 'INFERENCE',
      stream_seq: 1,
      deliveries: 1,
      error_code: 'test.failed',
      created_at: '2026-11-01T00:00:00.000Z',
    });
    const billing = await startService((request) => {
      if (request.includes('/1/replay'))
        return { status: 200, body: { id: '1', outcome: 'handled', error_code: null } };
      if (request.includes('/2/replay')) {
        return { status: 200, body: { id: '2', outcome: 'failed', error_code: 'test.failed' } };
      }
      const isSecond = request.includes('after=1');
      return { status: 200, body: { data: [letter(isSecond ? '2' : '1')], has_more: !isSecond } };
    });
    const { exitCode, text } = await run('dead-letters replay billing --all', { billing: billing.url });
    expect(exitCode).toBe(1);
    expect(text).toBe('1: handled\n2: failed (test.failed)');
    expect(billing.asked.filter((request) => request.startsWith('POST'))).toHaveLength(2);
  });

  test('passes on code and message of a service that fails', async () => {
    const detail = { code: 'payment_provider_unavailable', message: 'The payment provider did not answer.' };
    const billing = await startService(() => ({ status: 503, body: { detail } }));
    const line = `refund ${newId('usr')} ${newId('cs')} ticket-1 --amount-micros 5000000`;
    const { exitCode, fault } = await run(line, { billing: billing.url });
    expect(exitCode).toBe(1);
    expect(fault).toBe('payment_provider_unavailable: The payment provider did not answer.');
  });

  test('says what a service finds invalid', async () => {
    const detail = [
      { loc: ['body', 'refund_id'], type: 'value_error', msg: 'Value error, the id belongs to another refund' },
    ];
    const billing = await startService(() => ({ status: 422, body: { detail } }));
    const line = `refund ${newId('usr')} ${newId('cs')} ticket-1 --amount-micros 5000000`;
    expect(await run(line, { billing: billing.url })).toMatchObject({
      exitCode: 1,
      fault: 'invalid_request_error: the refund id is invalid: the id belongs to another refund',
    });
  });

  test('prints what after-restore billing would do, and what could not be read', async () => {
    const effect = { action: 'credit', svc_user_id: 'usr_1', object: 'cs_1', amount_micros: 5, currency: 'EUR' };
    const failed = [{ object: 'sub_1', reason: 'price' }];
    const billing = await startService(() => ({
      status: 200,
      body: { effects: [effect], reconciled: 3, announced: 2, failed },
    }));
    const { exitCode, text } = await run('after-restore billing --restored-to 2026-11-25T04:00:00Z --dry-run', {
      billing: billing.url,
    });
    expect(exitCode).toBe(1);
    expect(text).toMatch(/credit\s+usr_1\s+cs_1\s+5\s+EUR/);
    expect(text).toContain('nothing was changed');
    expect(text).toMatch(/sub_1\s+price/);
    expect(billing.asked).toEqual(['POST /internal/operations/billing/after-restore/preview']);
    const other = await run('after-restore auth --restored-to 2026-11-25T04:00:00Z --dry-run', { auth: billing.url });
    expect(other).toMatchObject({ exitCode: 2, fault: expect.stringContaining('--dry-run') });
  });

  test('takes an id that begins with a dash', async () => {
    const auth = await startService(() => ({ status: 200, body: { rotated: false, data: [] } }));
    const { fault } = await run('signing-keys rotate -kid', { auth: auth.url });
    expect(fault).toBe('there is no key "-kid"');
    expect(await run('signing-keys list -kid', { auth: auth.url })).toMatchObject({ exitCode: 2 });
  });

  test('repeats after-restore while the service is unavailable', async () => {
    const done = { epoch: null, began_at: null, reconciled: 0, announced: 0, read_again: 7, failed: [] };
    const dispatcher = await startService(() =>
      dispatcher.asked.length === 1
        ? { status: 503, body: { detail: { code: 'service_unavailable', message: 'Later.' } } }
        : { status: 200, body: done },
    );
    const auth = await startService(() => ({ status: 200, body: { announced: 3 } }));
    const { exitCode, text } = await run('after-restore webhook-dispatcher --restored-to 2026-11-25T04:00:00Z', {
      auth: auth.url,
      'webhook-dispatcher': dispatcher.url,
    });
    expect(exitCode).toBe(0);
    expect(text).toContain('unavailable; trying again');
    expect(text).toContain('read 7 facts again');
    expect(text).toContain('auth: publishes 3 erasures again');
    expect(dispatcher.asked).toHaveLength(2);
  });
});

test('ends quietly if its reader closes the pipe, as head does', async () => {
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const script = `"${process.execPath}" "${main}" help; echo "code $?" >&2`;
  const child = spawn('bash', ['-c', `(${script}) | true`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await once(child, 'close');
  expect(errors).toBe('code 0\n');
});

describe('for people and programs', () => {
  test.each(['help signing-keys rotate', 'signing-keys rotate --help'])('"%s" explains one command', async (line) => {
    const { exitCode, text } = await run(line);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^usage: svc signing-keys rotate <kid of the active key>\n\nsign with the next key/);
  });

  test('--version prints the version of the release', async () => {
    expect(await run('--version')).toMatchObject({ exitCode: 0, text: 'svc 1.2.3' });
  });

  test('--json prints one document, also for a fault', async () => {
    const key = {
      kid: 'k1',
      state: 'active',
      created_at: '2026-10-01T00:00:00Z',
      activated_at: null,
      retired_at: null,
    };
    const { url } = await startService(() => ({ status: 200, body: { data: [key] } }));
    const listed = await run('signing-keys list --json', { auth: url });
    expect(JSON.parse(listed.text)).toEqual({
      ok: true,
      fault: null,
      lines: [],
      tables: [[{ key: 'k1', state: 'active', created: key.created_at, activated: null, retired: null }]],
    });
    const refused = await run('--json signing-keys rotate');
    expect(refused.exitCode).toBe(2);
    expect(JSON.parse(refused.text)).toMatchObject({
      ok: false,
      fault: expect.stringContaining('usage: svc'),
      tables: [],
    });
  });

  test.each([
    ['svc s', ['status', 'secrets', 'signing-keys']],
    ['svc signing-keys ', ['list', 'rotate']],
    ['svc webhooks retry --b', ['--blocked-since']],
  ])('completes "%s" in bash', async (typed, expected) => {
    const { text } = await run('completion bash');
    const words = typed.split(' ');
    const script = `${text}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _svc; echo "\${COMPREPLY[*]}"`;
    const found = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
    expect(found.toSorted()).toEqual(expected.toSorted());
  });

  test.each(['zsh', 'fish'])('prints a completion for %s', async (shell) => {
    expect((await run(`completion ${shell}`)).text).toContain('signing-keys');
  });
});
