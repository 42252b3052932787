import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkDestination, type Lookup } from './check-destination.ts';
import { DestinationError, parseAllowTargets, parseDestination } from './destination.ts';

const answers = z.union([z.array(z.string()), z.array(z.array(z.string()))]);
const vectors = z
  .array(
    z.object({
      url: z.string(),
      why: z.string(),
      expect: z.enum(['allow', 'reject']),
      resolves_to: answers.optional(),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL('../test/fixtures/ssrf-vectors.json', import.meta.url), 'utf8')));

/** Answers each look-up from its own list; the last repeats. */
const scripted = (lists: readonly string[][]): Lookup => {
  let calls = 0;
  return async () => {
    const list = lists[Math.min(calls, lists.length - 1)] ?? [];
    calls += 1;
    return list;
  };
};

const toLists = (given: z.infer<typeof answers> | undefined): string[][] => {
  if (given === undefined || given.length === 0) return [[]];
  return given.map((entry) => (Array.isArray(entry) ? entry : given.flat()));
};

const verdict = async (url: string, lookup: Lookup, checks: number): Promise<string> => {
  let last = 'allow';
  for (let check = 0; check < checks; check += 1) {
    try {
      const destination = parseDestination(url, parseAllowTargets([]));
      await checkDestination(destination, { lookup, signal: AbortSignal.timeout(1_000) });
      last = 'allow';
    } catch (error) {
      if (!(error instanceof DestinationError)) throw error;
      last = 'reject';
    }
  }
  return last;
};

describe('published destinations', () => {
  test.each(vectors)('$expect $url: $why', async (vector) => {
    const lists = toLists(vector.resolves_to);
    expect(await verdict(vector.url, scripted(lists), lists.length)).toBe(vector.expect);
  });
});

describe('destinations beyond the published list', () => {
  const rejected = [
    'https://[::ffff:0:127.0.0.1]/hook',
    'https://[64:ff9b:1::8.8.8.8]/hook',
    'https://[2001:db8::1]/hook',
    'https://[2620:4f:8000::1]/hook',
    'https://[2a00:1450::5efe:10.0.0.1]/hook',
    'https://[ff02::1]/hook',
    'https://[::]/hook',
    'https://[::1%25lo]/hook',
    'https://hooks.example.com:0/hook',
    'https://hooks.example.com:80/hook',
    'https:///hooks.example.com/hook',
    'https:/hooks.example.com/hook',
    'https://hooks.example.com\\@127.0.0.1/',
    'https://hooks.example.com/a\tb',
    'https://hooks.example.com/a\nb',
    'https://hooks.example.com/hook ',
    'https://@hooks.example.com/hook',
    'https://:@hooks.example.com/hook',
    'https://hooks.exa\tmple.com/hook',
    'javascript:alert(1)',
    // Other ways to write 127.0.0.1, 10.0.0.1 and 169.254.169.254: octal, hexadecimal, one number, fewer parts, mixed.
    'https://2130706433/hook',
    'https://0x7f.0x0.0x0.0x1/hook',
    'https://00000177.0.0.01/hook',
    'https://127.1/hook',
    'https://0/hook',
    'https://10.1/hook',
    'https://0xa.0.0.1/hook',
    'https://012.0.0.1/hook',
    'https://0xA9FEA9FE/latest/meta-data/',
    'https://0251.0376.0251.0376/latest/meta-data/',
    'https://0xa9.254.0251.254/latest/meta-data/',
    'https://4294967295/hook',
    'https://4294967296/hook',
    'https://127.0.0.1.:8443/hook',
    'https://127.0.0.1:443/hook',
    // The same in IPv6, and IPv4 within IPv6: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
    'https://[::ffff:127.0.0.1]/hook',
    'https://[0:0:0:0:0:ffff:7f00:0001]/hook',
    'https://[::127.0.0.1]/hook',
    'https://[::ffff:169.254.169.254]/hook',
    'https://[64:ff9b::10.0.0.1]/hook',
    'https://[64:ff9b::192.168.0.1]/hook',
    'https://[2002:7f00:1::]/hook',
    'https://[2002:c0a8:101::1]/hook',
    'https://[2001::1]/hook',
    'https://[2001:0:7f00:1::]/hook',
    'https://[2001:10::1]/hook',
    'https://[2001:2::1]/hook',
    'https://[2001:470:1:18:0:5efe:7f00:1]/hook',
    'https://[2001:470:1:18:200:5efe:192.168.0.1]/hook',
    'https://[fc00::1]/hook',
    'https://[fd00:ec2::254]/latest/meta-data/',
    'https://[fe80::1%25eth0]/hook',
    'https://[fe80::1%eth0]/hook',
    'https://[ff05::1:3]/hook',
    'https://[100::1]/hook',
    'https://[::1]:8443/hook',
    'https://[0:0:0:0:0:0:0:0]/hook',
    'https://[e000::1]/hook',
    'https://[1fff::1]/hook',
    'https://[::1/hook',
    'https://::1/hook',
    // The bounds of the reserved IPv4 ranges.
    ...['0.255.255.255', '10.255.255.255', '100.64.0.1', '127.255.255.254', '169.254.0.1', '172.31.255.255'],
    ...[
      '192.0.0.8',
      '192.168.255.255',
      '198.19.255.255',
      '198.51.100.1',
      '203.0.113.9',
      '224.0.0.1',
      '255.255.255.255',
    ],
    ...['168.63.129.16', '100.100.100.200', '192.31.196.1', '192.52.193.1', '192.175.48.1'],
    // Names of the local machine.
    'https://LOCALHOST/hook',
    'https://localhost./hook',
    'https://a.b.localhost:8443/hook',
    // Ports and users.
    'https://hooks.example.com:22/hook',
    'https://hooks.example.com:65536/hook',
    'https://hooks.example.com:-1/hook',
    'https://hooks.example.com:4 43/hook',
    'https://user:password@hooks.example.com/hook',
    'https://%75ser@hooks.example.com/hook',
    'https://hooks.example.com&@127.0.0.1/hook',
    // Parsers disagree about the host.
    'https://hooks.example.com%2f127.0.0.1/hook',
    'https://hooks.example.com%5c127.0.0.1/hook',
    'https://hooks.example.com\u0000.internal/hook',
    'https://hooks.example.com\r\nHost: 127.0.0.1/hook',
    'https://hooks\u3002example\u3002com%40127.0.0.1/hook',
    'https://\uff11\uff12\uff17.0.0.1/hook',
    'https://xn--/hook',
    'https://./hook',
    'https://../hook',
    'https://a..example.com/hook',
    'https://.example.com/hook',
    `https://${'a'.repeat(64)}.example.com/hook`,
    `https://${'a.'.repeat(130)}com/hook`,
    'http://127.0.0.1/hook',
    'ftp://hooks.example.com/hook',
    'gopher://127.0.0.1:6379/_x',
    'blob:https://hooks.example.com/1',
  ].map((each) => (/^\d/.test(each) ? `https://${each}/hook` : each));
  test.each(rejected)('reject %s', async (url) => {
    expect(await verdict(url, scripted([['104.18.32.7']]), 1)).toBe('reject');
  });

  const allowed = [
    'https://[::ffff:8.8.8.8]/hook',
    'HTTPS://Hooks.Example.COM/hook#part',
    'https://hooks.example.com./hook',
    'https://bücher.example/hook',
    'https://hooks.example.com:1024/?a=b@c',
    'https://[2606:4700:4700::1111]:8443/hook',
  ];
  test.each(allowed)('allow %s', async (url) => {
    expect(await verdict(url, scripted([['104.18.32.7', '2606:4700::6812:2007']]), 1)).toBe('allow');
  });

  const privateAnswers = [
    ...['127.0.0.1', '10.1.2.3', '169.254.169.254', '100.100.100.200', '168.63.129.16', '192.168.0.1', '0.0.0.0'],
    ...['::1', '::', 'fe80::1', 'fd00:ec2::254', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:1::'],
    ...['fe80::1%eth0', '224.0.0.1', '255.255.255.255', 'not an address', ''],
  ];
  test.each(privateAnswers)(
    'a name with the answer %j is refused, alone, first, in between and last',
    async (answer) => {
      const publicAnswers = ['104.18.32.7', '2606:4700::6812:2007'];
      for (const place of [0, 1, 2]) {
        const mixed = publicAnswers.toSpliced(place, 0, answer);
        expect(await verdict('https://hooks.example.com/hook', scripted([mixed]), 1)).toBe('reject');
      }
      expect(await verdict('https://hooks.example.com/hook', scripted([[answer]]), 1)).toBe('reject');
      // Rebinding: public when it is configured and at a first attempt, then not, then again.
      const changing = [publicAnswers, publicAnswers, [answer], publicAnswers];
      const lookup = scripted(changing);
      const verdicts = [];
      for (const _ of changing) verdicts.push(await verdict('https://hooks.example.com/hook', lookup, 1));
      expect(verdicts).toEqual(['allow', 'allow', 'reject', 'allow']);
    },
  );

  test('resolves a name once, and an address never', async () => {
    const asked: string[] = [];
    const lookup: Lookup = async (host) => {
      asked.push(host);
      return ['104.18.32.7'];
    };
    await verdict('https://hooks.example.com/hook', lookup, 1);
    await verdict('https://1.1.1.1/hook', lookup, 1);
    expect(asked).toEqual(['hooks.example.com']);
  });

  test('refuses a name whose look-up fails', async () => {
    const failing: Lookup = () => Promise.reject(new Error('queryA ETIMEOUT'));
    expect(await verdict('https://hooks.example.com/hook', failing, 1)).toBe('reject');
  });
});

describe('allowed targets', () => {
  const check = async (url: string, targets: string[]) => {
    const destination = parseDestination(url, parseAllowTargets(targets));
    return await checkDestination(destination, {
      lookup: async () => ['127.0.0.1'],
      signal: AbortSignal.timeout(1_000),
    });
  };

  test('may have private addresses for exactly this host and port', async () => {
    const allowed = await check('https://receiver.test:9443/hook', ['receiver.test:9443']);
    expect(allowed.addresses).toEqual([{ address: '127.0.0.1', family: 4 }]);
    await check('https://localhost:9443/hook', ['localhost:9443']);
    await check('https://[::1]:9443/hook', ['[::1]:9443']);
    await expect(check('https://receiver.test:9444/hook', ['receiver.test:9443'])).rejects.toThrow('no_public_address');
    await expect(check('https://other.test:9443/hook', ['receiver.test:9443'])).rejects.toThrow('no_public_address');
  });

  test('must follow every other rule', async () => {
    await expect(check('http://receiver.test:9443/hook', ['receiver.test:9443'])).rejects.toThrow('scheme_not_https');
    await expect(check('https://receiver.test:22/hook', ['receiver.test:22'])).rejects.toThrow('port_not_allowed');
    await expect(check('https://u@receiver.test:9443/', ['receiver.test:9443'])).rejects.toThrow(
      'userinfo_not_allowed',
    );
  });

  test.each(['receiver.test', 'https://receiver.test:9443', 'receiver.test:9443/path', ''])(
    'refuses the entry %j',
    (entry) => {
      expect(() => parseAllowTargets([entry])).toThrow(TypeError);
    },
  );
});
