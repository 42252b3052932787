import { describe, expect, test } from 'vitest';
import { createLogger, reduceError } from './create-logger.ts';
import type { LogFields } from './log-fields.ts';

const collect = () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    service: 'auth',
    level: 'info',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  return { logger, lines };
};

/** Bypasses the types, as careless code might. */
const careless = (fields: Record<string, unknown>): LogFields => fields as LogFields;

describe('createLogger', () => {
  test('writes time, level, service, message and listed fields as JSON', () => {
    const { logger, lines } = collect();
    logger.child({ request_id: 'req_1' }).warn({ status: 503, attempt: 2 }, 'retrying');
    logger.debug('below the level');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        service: 'auth',
        message: 'retrying',
        request_id: 'req_1',
        status: 503,
        attempt: 2,
      }),
    ]);
    expect(Object.keys(lines[0] ?? {}).toSorted()).toEqual(
      ['attempt', 'level', 'message', 'request_id', 'service', 'status', 'time'].toSorted(),
    );
  });

  test.each([
    ['in a line', (logger: ReturnType<typeof collect>['logger'], fields: LogFields) => logger.info(fields, 'x')],
    ['in a child', (logger: ReturnType<typeof collect>['logger'], fields: LogFields) => logger.child(fields).info('x')],
  ])('drops every unlisted field: %s', (_where, write) => {
    const { logger, lines } = collect();
    const canary = 'canary-5f2b';
    write(
      logger,
      careless({
        authorization: `Bearer ${canary}`,
        token: canary,
        password: canary,
        body: { messages: [{ content: canary }] },
        req: { headers: { cookie: canary }, url: `/x?token=${canary}` },
        user_id: { nested: canary },
        attempt: () => canary,
        reason: [canary.slice(0, 3), { deep: canary }],
        status: 200,
      }),
    );
    expect(JSON.stringify(lines)).not.toContain(canary);
    expect(lines[0]).toMatchObject({ status: 200, reason: ['can', '?'] });
  });

  test('reduces an error to type, code, message and stack and drops other properties', () => {
    const { logger, lines } = collect();
    const error = Object.assign(new TypeError('cannot read'), {
      code: 'E_BAD',
      response: { body: 'canary' },
      config: { headers: { authorization: 'canary' } },
    });
    logger.error({ err: error }, 'failed');
    expect(lines[0]?.['err']).toEqual({
      type: 'TypeError',
      code: 'E_BAD',
      message: 'cannot read',
      stack: expect.stringContaining('at '),
    });
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  test('truncates long texts', () => {
    const { logger, lines } = collect();
    logger.info({ reason: 'x'.repeat(5_000) }, 'long');
    expect(String(lines[0]?.['reason'])).toHaveLength(1_000);
  });
});

describe('reduceError', () => {
  test('replaces the message of a parser that quotes its input', () => {
    let thrown: unknown;
    try {
      JSON.parse('{"password": canary}');
    } catch (error) {
      thrown = error;
    }
    expect(JSON.stringify(reduceError(thrown))).not.toContain('canary');
  });

  test('removes the statement and quoted values from a database error', () => {
    const conflict = Object.assign(
      new Error(
        'insert into "accounts" ("email") values (\'canary@x.test\') - duplicate key value violates unique constraint "accounts_email_key"',
      ),
      {
        code: '23505',
        severity: 'ERROR',
        constraint: 'accounts_email_key',
        detail: 'Key (email)=(canary@x.test) already exists.',
      },
    );
    const reduced = reduceError(conflict);
    expect(reduced).toMatchObject({
      code: '23505',
      constraint: 'accounts_email_key',
      message: expect.stringContaining('duplicate key'),
    });
    expect(JSON.stringify(reduced)).not.toContain('canary');
    const badValue = Object.assign(new Error('invalid input syntax for type uuid: "canary"'), {
      code: '22P02',
      severity: 'ERROR',
    });
    expect(JSON.stringify(reduceError(badValue))).not.toContain('canary');
  });

  test.each([
    'refused: Bearer canary-token',
    'jwt eyJhbGciOiJFUzI1NiJ9.eyJjYW5hcnkiOjF9.canary',
    'key svc_sk_canary was used',
    'secret whsec_canary',
    'connect to postgres://svc:canary@db.test/x failed',
    'GET https://api.test/cb?code=canary&state=canary failed',
    'GET /v1/x?token=canary failed',
  ])('cleans %s', (message) => {
    const reduced = JSON.stringify(reduceError(new Error(message)));
    expect(reduced).not.toContain('canary');
    expect(reduced).not.toContain('eyJjYW5hcnkiOjF9');
  });

  test('reduces causes to a bounded depth', () => {
    let error = new Error('innermost');
    for (let depth = 0; depth < 10; depth += 1) error = new Error(`level ${depth}`, { cause: error });
    expect(JSON.stringify(reduceError(error)).match(/"type"/g)).toHaveLength(5);
  });

  test('reduces a thrown value that is not an Error', () => {
    expect(reduceError('broken')).toEqual({ type: 'string', message: 'broken' });
    expect(reduceError({ secret: 'canary' })).toEqual({ type: 'object', message: '' });
  });
});
