import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readAddressBook, readContexts } from '../src/contexts.ts';
import { runCommand } from '../src/run-command.ts';

const FILE = `
current: staging
contexts:
  production:
    operator: ada
    token: { file: production.token }
    urls: { auth: http://127.0.0.1:3101, billing: http://127.0.0.1:3102 }
  staging:
    token: { env: STAGING_TOKEN }
    urls: { auth: https://auth.internal.staging.example.com }
  vault:
    token: { command: [echo, 'operator:from-a-command'] }
    urls: { auth: http://127.0.0.1:3201 }
  laptop:
    data_dir: stack
`;

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-contexts-'));
  write('contexts.yaml', FILE);
  write('production.token', 'operator:from-a-file\n');
  env = { SVC_CONFIG: join(folder, 'contexts.yaml'), STAGING_TOKEN: 'operator:from-the-environment' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });

describe('a context', () => {
  test('brings addresses, a credential and a name', () => {
    expect(readAddressBook(env, 'production')).toEqual({
      token: 'operator:from-a-file',
      operator: 'ada',
      urls: { auth: 'http://127.0.0.1:3101', billing: 'http://127.0.0.1:3102' },
    });
  });

  test('is named by --context, else by SVC_CONTEXT, else by the file', () => {
    const { username } = userInfo();
    expect(readAddressBook(env)).toMatchObject({ token: 'operator:from-the-environment', operator: username });
    expect(readAddressBook({ ...env, SVC_CONTEXT: 'vault' })).toMatchObject({ token: 'operator:from-a-command' });
    const named = readAddressBook({ ...env, SVC_CONTEXT: 'vault', SVC_OPERATOR: 'grace' }, 'production');
    expect(named).toMatchObject({ token: 'operator:from-a-file', operator: 'grace' });
  });

  test('gives way to addresses in the environment unless it is named', () => {
    const inside = { ...env, AUTH_INTERNAL_URL: 'http://auth:3001', INTERNAL_API_TOKEN: 'operator:of-the-pod' };
    expect(readAddressBook(inside)).toMatchObject({
      token: 'operator:of-the-pod',
      urls: { auth: 'http://auth:3001' },
    });
    expect(readAddressBook(inside, 'production')).toMatchObject({ token: 'operator:from-a-file' });
  });

  test('may be a local stack', () => {
    mkdirSync(join(folder, 'stack'));
    expect(() => readAddressBook(env, 'laptop')).toThrow(/no running stack in .*\/stack\. /);
    write('stack/stack.json', JSON.stringify({ processes: { auth: { internal_url: 'http://127.0.0.1:4001' } } }));
    write('stack/secrets.json', JSON.stringify({ OPERATOR_API_TOKEN: 'operator:of-the-stack' }));
    expect(readAddressBook(env, 'laptop')).toMatchObject({
      token: 'operator:of-the-stack',
      urls: { auth: 'http://127.0.0.1:4001' },
    });
  });

  test('is refused if it is unknown, or its credential is missing or readable by others', () => {
    expect(() => readAddressBook(env, 'prod')).toThrow('Contexts: production, staging, vault, laptop.');
    expect(() => readAddressBook({ ...env, STAGING_TOKEN: '' })).toThrow('STAGING_TOKEN has no credential');
    chmodSync(join(folder, 'production.token'), 0o640);
    expect(() => readAddressBook(env, 'production')).toThrow('chmod 600');
  });

  test('never holds the credential itself', () => {
    write('contexts.yaml', FILE.replace('{ env: STAGING_TOKEN }', 'operator:in-the-file'));
    expect(() => readAddressBook(env)).toThrow('contexts.staging: ');
  });
});

test('without a file there are no contexts, but a file that SVC_CONFIG names must exist', () => {
  expect(readContexts({ XDG_CONFIG_HOME: folder })).toEqual({ file: `${folder}/svc/contexts.yaml`, contexts: {} });
  expect(() => readContexts({ SVC_CONFIG: join(folder, 'absent.yaml') })).toThrow('cannot be read');
});

describe('the command line', () => {
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const asked: (string | undefined)[] = [];
    const addresses = (context?: string) => {
      asked.push(context);
      return readAddressBook(env, context);
    };
    const contexts = () => readContexts(env);
    const result = await runCommand(args, {
      addresses,
      contexts,
      env: {},
      version: '1.2.3',
      print: (line) => lines.push(line),
    });
    return { ...result, asked, text: lines.join('\n') };
  };

  test.each([
    ['before the command', ['--context', 'vault', 'outbox', 'reconcile', 'auth']],
    ['after it', ['outbox', 'reconcile', 'auth', '--context', 'vault']],
    ['in one word', ['outbox', '--context=vault', 'reconcile', 'auth']],
  ])('accepts --context %s', async (_where, args) => {
    const { asked, fault } = await run(...args);
    expect(asked).toEqual(['vault']);
    expect(fault).toContain('service_unavailable');
  });

  test('lists the contexts without calling a service', async () => {
    const { asked, exitCode, text } = await run('contexts');
    expect({ asked, exitCode }).toEqual({ asked: [], exitCode: 0 });
    expect(text).toMatch(/^staging \(current\) {2}https:/m);
    expect(text).toContain('production');
  });

  test('names the known contexts for an unknown one', async () => {
    expect(await run('--context', 'prod', 'status')).toMatchObject({ exitCode: 1 });
    expect((await run('status', '--context')).fault).toContain('there is no context ""');
  });
});
