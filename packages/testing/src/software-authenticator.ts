import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Members of `PublicKeyCredentialCreationOptionsJSON` that the authenticator reads. */
export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id?: string | undefined };
  readonly user: { readonly id: string };
}

/** Members of `PublicKeyCredentialRequestOptionsJSON` that the authenticator reads. */
export interface RequestOptions {
  readonly challenge: string;
  readonly rpId?: string | undefined;
  readonly allowCredentials?: readonly { readonly id: string }[] | undefined;
}

/** Deviations of one ceremony from the normal course. */
export interface CeremonyChoices {
  readonly origin?: string;
  readonly rpId?: string;
  /** False if the authenticator did not verify the person. */
  readonly userVerified?: boolean;
  /** Repeats a signature counter. */
  readonly counter?: number;
}

interface Credential {
  readonly id: Buffer;
  readonly privateKey: KeyObject;
  readonly userHandle: string;
  readonly rpId: string;
  counter: number;
}

/** An authenticator and its browser in one: makes passkeys and assertions (WebAuthn Level 3) with ES256 keys. */
export interface SoftwareAuthenticator {
  /** Returns a `RegistrationResponseJSON`. */
  readonly create: (options: CreationOptions, choices?: CeremonyChoices) => Record<string, unknown> & { id: string };
  /** Returns an `AuthenticationResponseJSON` of the newest fitting passkey. Throws if there is none. */
  readonly get: (options: RequestOptions, choices?: CeremonyChoices) => Record<string, unknown> & { id: string };
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const ATTESTED = 0x40;
const CREDENTIAL_ID_BYTES = 32;

/** Creates an authenticator in a browser on a page of this origin. It starts without passkeys. */
export const softwareAuthenticator = (origin: string): SoftwareAuthenticator => {
  const credentials: Credential[] = [];
  return {
    create: (options, choices = {}) => {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const id = randomBytes(CREDENTIAL_ID_BYTES);
      const rpId = options.rp.id ?? new URL(origin).hostname;
      credentials.unshift({ id, privateKey, userHandle: options.user.id, rpId, counter: 0 });
      const attested = Buffer.concat([Buffer.alloc(16), uint(id.length, 2), id, coseKey(publicKey)]);
      const authData = Buffer.concat([authenticatorData(rpId, choices, { counter: 0, flags: ATTESTED }), attested]);
      const attestation = cborMap([
        [cborText('fmt'), cborText('none')],
        [cborText('attStmt'), cborMap([])],
        [cborText('authData'), cborBytes(authData)],
      ]);
      return toCredentialJson(id, {
        clientDataJSON: clientData('webauthn.create', options.challenge, choices.origin ?? origin).toString(
          'base64url',
        ),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    get: (options, choices = {}) => {
      const allowed = options.allowCredentials?.map(({ id }) => id) ?? [];
      const credential = credentials.find(
        ({ id, rpId }) =>
          rpId === (options.rpId ?? new URL(origin).hostname) &&
          (allowed.length === 0 || allowed.includes(id.toString('base64url'))),
      );
      if (credential === undefined) throw new Error('no passkey fits the options');
      credential.counter += 1;
      const counter = choices.counter ?? credential.counter;
      const authData = authenticatorData(credential.rpId, choices, { counter, flags: 0 });
      const client = clientData('webauthn.get', options.challenge, choices.origin ?? origin);
      const signed = Buffer.concat([authData, sha256(client)]);
      return toCredentialJson(credential.id, {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, credential.privateKey).toString('base64url'),
        userHandle: credential.userHandle,
      });
    },
  };
};

const toCredentialJson = (id: Buffer, response: object) => ({
  id: id.toString('base64url'),
  rawId: id.toString('base64url'),
  type: 'public-key',
  response,
  authenticatorAttachment: 'platform',
  clientExtensionResults: {},
});

const clientData = (type: string, challenge: string, origin: string): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

/** WebAuthn Level 3 section 6.1. */
const authenticatorData = (
  rpId: string,
  choices: CeremonyChoices,
  { counter, flags }: { counter: number; flags: number },
): Buffer => {
  const verified = choices.userVerified === false ? 0 : USER_VERIFIED;
  const allFlags = uint(USER_PRESENT + verified + flags, 1);
  return Buffer.concat([sha256(Buffer.from(choices.rpId ?? rpId)), allFlags, uint(counter, 4)]);
};

/** COSE key of an ES256 public key (RFC 9053 section 7.1.1). */
const coseKey = (publicKey: KeyObject): Buffer => {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  return cborMap([
    [cborInt(1), cborInt(2)],
    [cborInt(3), cborInt(-7)],
    [cborInt(-1), cborInt(1)],
    [cborInt(-2), cborBytes(Buffer.from(x, 'base64url'))],
    [cborInt(-3), cborBytes(Buffer.from(y, 'base64url'))],
  ]);
};

const sha256 = (bytes: Buffer): Buffer => hash('sha256', bytes, 'buffer');

const uint = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};

/** Head of a CBOR item (RFC 8949 section 3). */
const cborHead = (majorType: number, value: number): Buffer => {
  const type = majorType << 5;
  if (value < 24) return Buffer.from([type | value]);
  if (value < 256) return Buffer.from([type | 24, value]);
  return Buffer.concat([Buffer.from([type | 25]), uint(value, 2)]);
};
const cborInt = (value: number): Buffer => (value < 0 ? cborHead(1, -1 - value) : cborHead(0, value));
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes]);
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, Buffer.byteLength(text)), Buffer.from(text)]);
const cborMap = (entries: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([cborHead(5, entries.length), ...entries.flat()]);
