import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
  .parse(JSON.parse(readFileSync(new URL('../../test/fixtures/ssrf-vectors.json', import.meta.url), 'utf8')));

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

describe('every published destination gets its verdict', () => {
  it.each(vectors)('$expect $url: $why', async (vector) => {
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
  ];
  it.each(rejected)('reject %s', async (url) => {
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
  it.each(allowed)('allow %s', async (url) => {
    expect(await verdict(url, scripted([['104.18.32.7', '2606:4700::6812:2007']]), 1)).toBe('allow');
  });

  it('gives the resolver a name once, and an address never', async () => {
    const asked: string[] = [];
    const lookup: Lookup = async (host) => {
      asked.push(host);
      return ['104.18.32.7'];
    };
    await verdict('https://hooks.example.com/hook', lookup, 1);
    await verdict('https://1.1.1.1/hook', lookup, 1);
    expect(asked).toEqual(['hooks.example.com']);
  });

  it('refuses a name whose look-up fails', async () => {
    const failing: Lookup = () => Promise.reject(new Error('queryA ETIMEOUT'));
    expect(await verdict('https://hooks.example.com/hook', failing, 1)).toBe('reject');
  });
});

describe('targets that the operator allows', () => {
  const check = async (url: string, targets: string[]) => {
    const destination = parseDestination(url, parseAllowTargets(targets));
    return await checkDestination(destination, {
      lookup: async () => ['127.0.0.1'],
      signal: AbortSignal.timeout(1_000),
    });
  };

  it('lifts the address rule for exactly this host and port', async () => {
    const allowed = await check('https://receiver.test:9443/hook', ['receiver.test:9443']);
    expect(allowed.addresses).toEqual([{ address: '127.0.0.1', family: 4 }]);
    await check('https://localhost:9443/hook', ['localhost:9443']);
    await check('https://[::1]:9443/hook', ['[::1]:9443']);
    await expect(check('https://receiver.test:9444/hook', ['receiver.test:9443'])).rejects.toThrow('no_public_address');
    await expect(check('https://other.test:9443/hook', ['receiver.test:9443'])).rejects.toThrow('no_public_address');
  });

  it('lifts no other rule', async () => {
    await expect(check('http://receiver.test:9443/hook', ['receiver.test:9443'])).rejects.toThrow('scheme_not_https');
    await expect(check('https://receiver.test:22/hook', ['receiver.test:22'])).rejects.toThrow('port_not_allowed');
    await expect(check('https://u@receiver.test:9443/', ['receiver.test:9443'])).rejects.toThrow(
      'userinfo_not_allowed',
    );
  });

  it.each(['receiver.test', 'https://receiver.test:9443', 'receiver.test:9443/path', ''])(
    'refuses the entry %j',
    (entry) => {
      expect(() => parseAllowTargets([entry])).toThrow(TypeError);
    },
  );
});
