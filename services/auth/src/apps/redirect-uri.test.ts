import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addToRedirectUri,
  findRedirectUriFault,
  isRegisteredRedirectUri,
  toFormActionSource,
  toRedirectHost,
} from './redirect-uri.ts';

describe('registering', () => {
  test.each([
    'https://app.example/callback',
    'https://app.example',
    'https://app.example/',
    'https://app.example:8443/cb',
    'https://xn--bcher-kva.example/cb',
    'https://app.example/cb?tenant=1',
    'https://app.example/cb?next=%2Fhome',
    'https://app.example/a%20b',
    'https://192.0.2.7/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:4711/cb',
    'http://127.0.0.1',
    'http://[::1]/cb',
    'http://localhost:3000/cb',
    "https://app.example/it's/(ok),+;=!$&",
  ])('accepts %s for public and confidential apps', (uri) => {
    expect(findRedirectUriFault(uri, 'confidential')).toBeUndefined();
    expect(findRedirectUriFault(uri, 'public')).toBeUndefined();
  });

  test.each(['com.example.app:/cb', 'com.example.app://cb', 'io.github.some-one:/oauth/cb'])(
    'RFC 8252 §7.1: accepts the private scheme of %s for public apps only',
    (uri) => {
      expect(findRedirectUriFault(uri, 'public')).toBeUndefined();
      expect(findRedirectUriFault(uri, 'confidential')).toMatch(/private scheme/);
    },
  );

  test.each([
    ['a fragment', 'https://app.example/cb#x'],
    ['an empty fragment', 'https://app.example/cb#'],
    ['a wildcard host', 'https://*.app.example/cb'],
    ['a wildcard path', 'https://app.example/*'],
    ['userinfo', 'https://user@app.example/cb'],
    ['userinfo with a password', 'https://user:pw@app.example/cb'],
    ['empty userinfo', 'https://@app.example/cb'],
    ['userinfo that looks like the host', 'https://app.example@evil.example/cb'],
    ['http beyond loopback', 'http://app.example/cb'],
    ['http on a private address', 'http://192.168.0.1/cb'],
    ['http on a name that begins like loopback', 'http://127.0.0.1.evil.example/cb'],
    ['http on a name that begins like localhost', 'http://localhost.evil.example/cb'],
    ['http on any address', 'http://0.0.0.0/cb'],
    ['a number for a loopback host', 'http://2130706433/cb'],
    ['a short loopback host', 'http://127.1/cb'],
    ['an octal loopback host', 'http://0177.0.0.1/cb'],
    ['a dot segment', 'https://app.example/a/../cb'],
    ['a single dot segment', 'https://app.example/./cb'],
    ['an encoded dot segment', 'https://app.example/%2e%2e/cb'],
    ['a half encoded dot segment', 'https://app.example/.%2E/cb'],
    ['an encoded slash', 'https://app.example/a%2fcb'],
    ['an encoded backslash', 'https://app.example/a%5Ccb'],
    ['a twice encoded slash', 'https://app.example/a%252fcb'],
    ['an encoded line break', 'https://app.example/cb%0d%0aSet-Cookie:x'],
    ['an encoded NUL', 'https://app.example/cb%00'],
    ['an encoded control character in the query', 'https://app.example/cb?a=%0a'],
    ['a broken percent sign', 'https://app.example/cb%2'],
    ['a percent sign without digits', 'https://app.example/100%'],
    ['a backslash', 'https://app.example\\@evil.example/cb'],
    ['backslashes for slashes', 'https:\\\\app.example/cb'],
    ['a blank', 'https://app.example/a b'],
    ['a leading blank', ' https://app.example/cb'],
    ['a trailing line break', 'https://app.example/cb\n'],
    ['a tab within', 'https://app.\texample/cb'],
    ['a NUL', 'https://app.example/\0cb'],
    ['letters beyond ASCII', 'https://bücher.example/cb'],
    ['a full-width dot', 'https://app。example/cb'],
    ['an upper case scheme', 'HTTPS://app.example/cb'],
    ['an upper case host', 'https://App.example/cb'],
    ['an encoded host', 'https://app%2eexample/cb'],
    ['a default port', 'https://app.example:443/cb'],
    ['an empty port', 'https://app.example:/cb'],
    ['a port out of range', 'https://app.example:65536/cb'],
    ['a trailing dot in the host', 'https://app.example./cb'],
    ['an empty label', 'https://app..example/cb'],
    ['no host', 'https:///cb'],
    ['no slashes', 'https:app.example/cb'],
    ['one slash', 'https:/app.example/cb'],
    ['an empty path segment', 'https://app.example//evil.example/cb'],
    ['no scheme', 'app.example/cb'],
    ['a relative reference', '/cb'],
    ['a network-path reference', '//app.example/cb'],
    ['a script', 'javascript:alert(1)'],
    ['a script behind slashes', 'javascript://app.example/%0aalert(1)'],
    ['data', 'data:text/html,x'],
    ['a file', 'file:///etc/passwd'],
    ['a scheme of one label', 'myapp:/cb'],
    ['a web socket', 'wss://app.example/cb'],
    ['an ftp server', 'ftp://app.example/cb'],
    ['the out-of-band URN', 'urn:ietf:wg:oauth:2.0:oob'],
    ['a private scheme without a slash', 'com.example.app:cb'],
    ['userinfo after a private scheme', 'com.example.app://user@cb'],
    ['a parameter that we add', 'https://app.example/cb?code=x'],
    ['a parameter of the denial', 'https://app.example/cb?a=1&error=x'],
    ['markup', 'https://app.example/<script>'],
    ['a quote', 'https://app.example/"x'],
    ['a brace', 'https://app.example/{x}'],
    ['nothing', ''],
  ])('refuses %s: %s', (_what, uri) => {
    expect(findRedirectUriFault(uri, 'public')).toEqual(expect.any(String));
    expect(findRedirectUriFault(uri, 'confidential')).toEqual(expect.any(String));
  });

  test('accepts only URIs that a browser opens at the named host', () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), (uri) => {
        if (findRedirectUriFault(uri, 'public') !== undefined) return;
        const url = new URL(uri);
        expect(uri.startsWith(`${url.protocol}//${url.host}`)).toBe(true);
        expect(url.hash).toBe('');
        expect(url.protocol).toBe('https:');
      }),
      { numRuns: 500 },
    );
  });

  test('arbitrary text never throws, and only https, loopback and private schemes are accepted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const uri of [text, `https://app.example/${text}`, `https://${text}`, `http://${text}`]) {
          if (findRedirectUriFault(uri, 'confidential') !== undefined) continue;
          expect(uri).toMatch(/^(https:\/\/|http:\/\/(localhost|127\.|\[::1\]))/);
          expect(URL.canParse(uri)).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('RFC 9700 §2.1: comparing', () => {
  const registered = [
    'https://app.example/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:8080/cb',
    'http://localhost:3000/cb',
  ];
  const isRegistered = (uri: string) => isRegisteredRedirectUri(registered, uri);

  test('an identical string matches', () => {
    for (const uri of registered) expect(isRegistered(uri)).toBe(true);
  });

  test.each([
    'http://127.0.0.1:51823/cb',
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:80/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb',
    'http://[::1]:9/cb',
  ])('RFC 8252 §7.3: any port matches on a loopback IP: %s', (uri) => expect(isRegistered(uri)).toBe(true));

  test.each([
    'https://app.example/cb/',
    'https://app.example/cb?x=1',
    'https://app.example/CB',
    'https://app.example:443/cb',
    'https://app.example/x/../cb',
    'https://app.example/cb/../cb',
    'https://app.example/c%62',
    'https://evil.example/cb',
    'https://app.example.evil.example/cb',
    'http://app.example/cb',
    'https://app.example:8443/cb',
    'http://localhost:3001/cb',
    'http://localhost/cb',
    'http://127.0.0.2/cb',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:080/cb',
    'http://127.0.0.1:0x50/cb',
    'http://127.0.0.1:5000/../cb',
    'http://127.0.0.1:5000/c%62',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:5000@evil.example/cb',
    'http://127.0.0.1:5000/cb?x=1',
    'http://127.0.0.1:5000/other',
    'http://127.0.0.1:5000',
    'https://127.0.0.1:5000/cb',
    '',
  ])('rejects a different URI: %s', (uri) => expect(isRegistered(uri)).toBe(false));

  test('only registered strings and loopback ports ever match', () => {
    fc.assert(
      fc.property(fc.constantFrom(...registered), fc.string({ maxLength: 12 }), fc.nat(60), (uri, noise, at) => {
        const changed = uri.slice(0, at) + noise + uri.slice(at);
        if (!isRegistered(changed) || registered.includes(changed)) return;
        expect(changed.replace(/:\d+(?=\/)/, '')).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\])\/cb$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('answering', () => {
  test.each([
    ['https://app.example/cb', 'https://app.example/cb?code=a+b&state=%26'],
    ['https://app.example', 'https://app.example?code=a+b&state=%26'],
    ['https://app.example/cb?t=%7E', 'https://app.example/cb?t=%7E&code=a+b&state=%26'],
    ['https://app.example/cb?', 'https://app.example/cb?code=a+b&state=%26'],
    ['com.example.app:/cb', 'com.example.app:/cb?code=a+b&state=%26'],
  ])('adds parameters to %s', (uri, expected) => {
    expect(addToRedirectUri(uri, { code: 'a b', state: '&' })).toBe(expected);
  });

  test.each([
    ['https://app.example:8443/cb', 'https://app.example:8443', 'app.example:8443'],
    ['http://127.0.0.1:5000/cb', 'http://127.0.0.1:5000', '127.0.0.1:5000'],
    ['http://[::1]:5000/cb', 'http:', '[::1]:5000'],
    ['com.example.app:/cb', 'com.example.app:', 'com.example.app'],
  ])('names the target of %s', (uri, source, host) => {
    expect(toFormActionSource(uri)).toBe(source);
    expect(toRedirectHost(uri)).toBe(host);
  });
});
