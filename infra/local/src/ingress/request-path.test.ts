import { describe, expect, test } from 'vitest';
import { readRequestPath } from './request-path.ts';

describe('readRequestPath', () => {
  test.each([
    ['/v1/models', '/v1/models'],
    ['/v1/models?x=/../y//', '/v1/models'],
    ['/v1/models/', '/v1/models/'],
    ['/', '/'],
    ['/v1/apps/a%20b', '/v1/apps/a%20b'],
    ['/v1/apps/..a', '/v1/apps/..a'],
    ['/.well-known/openid-configuration', '/.well-known/openid-configuration'],
  ])('reads %s', (target, path) => expect(readRequestPath(target)).toBe(path));

  test.each([
    '//v1/models',
    '/v1//models',
    '/v1/models//',
    '/v1/x/../models',
    '/v1/x/./models',
    '/v1/x/%2e%2E/models',
    '/v1/x/.%2e/models',
    '/v1/x%2fmodels',
    '/v1/x%5cmodels',
    '/v1\\models',
    '/v1/x%00',
    '/v1/x%zz',
    '/v1/é',
    '/v1/x#y',
    'http://elsewhere.example/v1/models',
    '*',
    '',
    undefined,
  ])('refuses %s', (target) => expect(readRequestPath(target)).toBeUndefined());

  test('keeps an encoded letter, which then matches no literal', () => {
    expect(readRequestPath('/v1/%69ntegrations')).toBe('/v1/%69ntegrations');
  });
});
