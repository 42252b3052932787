import { allRoutes, errorCodes } from '@svc/contracts';
import { describe, expect, test } from 'vitest';
import { ApiError, operations } from '../api/index.ts';
import { en } from '../i18n/en/index.ts';
import { createFormats } from '../i18n/index.ts';
import { it as italian } from '../i18n/it/index.ts';
import { describeError, describeIssue } from './describe-error.ts';
import { checkEmail, checkInteger, checkText, pathOf } from './use-form.ts';

const formats = createFormats('en', 'UTC');

describe('errors', () => {
  test('name the next step for every code of a console route', () => {
    const called = new Set<string>(Object.keys(operations));
    const codes = new Set(allRoutes.filter((route) => called.has(route.operationId)).flatMap(({ errors }) => errors));
    for (const code of codes) {
      const error = new ApiError({ status: errorCodes[code].status, code, message: 'English.' });
      for (const messages of [en, italian]) {
        expect(describeError(error, messages, formats).text, code).not.toContain('English.');
      }
    }
  });

  test('fall back to the message of the service', () => {
    const error = new ApiError({ status: 409, code: 'made_tomorrow', message: 'It rains.', requestId: 'req_1' });
    expect(describeError(error, en, formats)).toEqual({
      title: 'Something went wrong',
      text: 'The service says: It rains.',
      requestId: 'req_1',
      canRetry: false,
    });
  });

  test('name the time to wait', () => {
    const error = new ApiError({ status: 429, code: 'too_many_attempts', message: '', retryAfterSeconds: 61 });
    expect(describeError(error, en, formats).text).toContain('You can try again in 61 seconds.');
  });

  test('offer no retry for something that does not exist', () => {
    const error = new ApiError({ status: 501, code: 'not_implemented', message: '' });
    expect(describeError(error, en, formats)).toMatchObject({
      title: 'Not available in this release',
      canRetry: false,
    });
    expect(describeError(new Error('anything'), en, formats).canRetry).toBe(true);
  });
});

describe('faults', () => {
  const say = (type: string, msg = '', ctx = {}) => describeIssue({ loc: ['body', 'x'], type, msg, ctx }, en, formats);

  test('are in the language of the pages', () => {
    expect(say('missing')).toBe('Fill in this field.');
    expect(say('string_too_short', '', { min_length: 12 })).toBe('At least 12 characters.');
    expect(say('less_than_equal', '', { le: 100_000 })).toBe('At most 100,000.');
    const fragment = 'Value error, a redirect URI must have no fragment';
    expect(say('value_error', fragment)).toBe('A redirect URI must have no fragment.');
    const issue = { loc: ['body', 'url'], type: 'value_error', msg: fragment };
    expect(describeIssue(issue, italian, formats)).toBe('Un redirect URI non può avere un frammento (#).');
  });

  test('are never empty', () => {
    expect(say('unheard_of')).toBe('This value is not valid.');
  });
});

describe('checks', () => {
  test('find the same faults as the services', () => {
    expect(checkText('name', '  ', { required: true })[0]?.type).toBe('missing');
    expect(checkText('name', 'x'.repeat(81), { max: 80 })[0]).toMatchObject({ ctx: { max_length: 80 } });
    expect(checkText('name', '👍'.repeat(80), { max: 80 })).toEqual([]);
    expect(checkEmail('email', 'nobody')[0]?.type).toBe('string_pattern_mismatch');
    expect(checkEmail('email', 'a@b.example')).toEqual([]);
    const range = { min: 1, max: 9 };
    expect(checkInteger('n', '', range)).toEqual([]);
    expect(['0', '10', '1.5', '-1', 'x'].map((text) => checkInteger('n', text, range)[0]?.type)).toEqual([
      'greater_than_equal',
      'less_than_equal',
      'int_type',
      'int_type',
      'int_type',
    ]);
  });

  test('find the field of a fault', () => {
    expect(pathOf({ loc: ['body', 'redirect_uris', 0], type: '', msg: '' })).toBe('redirect_uris.0');
    expect(pathOf({ loc: ['query', 'limit'], type: '', msg: '' })).toBeUndefined();
    const [issue] = checkText('redirect_uris.1', '', { required: true });
    expect(issue?.loc).toEqual(['body', 'redirect_uris', 1]);
  });
});
