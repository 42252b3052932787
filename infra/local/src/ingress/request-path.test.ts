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
    ['/v1/models/acme%2Feu-chat-1', '/v1/models/acme%2Feu-chat-1'],
    ['/v1/models/acme/eu-chat-1', '/v1/models/acme/eu-chat-1'],
    ...[
      '/v1/integrations/connections/https%3A%2F%2Fagent.example%2Fa%2Fb.json',
      '/v1/integrations/connections/https%3A%2F%2Fagent.example%2Fa/grants/grt_1',
      '/v1/integrations/apps/https:%2f%2fagent.example%2fa/icon',
    ].map((path) => [path, path]),
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
    '/v1/models/..%2fkey',
    '/v1/integrations/connections/a%2Fb',
    '/v1/integrations/connections/https%3A%2F%2Fa%2Fb/x%2Fy',
    '/v1/integrations/connections/https%3A%2F%2Fa%5Cb',
    '/v1/integrations/usage/https%3A%2F%2Fa%2Fb',
    '/v1/models/%2e%2e%2fkey',
    '/v1/models/a%2f%2fb',
    '/v1/models/a%5cb',
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
