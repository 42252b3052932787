import { AppError, invalidRequest } from '@svc/service-kit';
import {
  type AnswerShape,
  type CompletionRequest,
  type RequestBounds,
  type RequestSource,
  readRequest,
  receiveRequest,
  usageSoFar,
} from '../forwarding/index.ts';
import { jsonAnswerLimits, toText } from '../large-json/index.ts';
import { FORWARDED_MEMBERS } from '../providers/index.ts';
import { namesOf, openStreamProof, type ProofDeps, prove, routeAttribution, signProof } from './attribution.ts';
import { certifiedShape } from './certified-shape.ts';
import { type ComplianceMode, complianceHeadersOf } from './compliance.ts';
import { embeddingsShape } from './embeddings/embeddings-shape.ts';
import type { Endpoint } from './forward-request.ts';
import type { KeyRequestDeps } from './key-request-deps.ts';
import { createResponseStream } from './responses/create-response-stream.ts';
import { type ResponseEcho, type ResponseIdentity, responseAround } from './responses/response-object.ts';

interface ResponseShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance. */
  readonly isProven: boolean;
  readonly request: RequestBounds;
  readonly echo: ResponseEcho;
}

/** Shapes answers of chat routes as responses, with proof of provider and model. */
const responseShape = (
  deps: ProofDeps & Pick<KeyRequestDeps, 'json' | 'streamLimits'>,
  { mode, requestId, isProven, request, echo }: ResponseShapeOptions,
): AnswerShape => {
  const tail = requestId.slice('req_'.length);
  const identity: ResponseIdentity = { tail, createdAt: Math.floor(deps.clock() / 1000), echo };
  const showsMetadata = mode === 'full';
  return {
    // The events are ours in every mode.
    sendsComments: true,
    openReader: () => ({
      limits: jsonAnswerLimits(),
      shape: async (routed, text) => {
        const { route } = routed;
        const options = { tail, contextTokensMax: route.contextTokensMax, digestsMessages: isProven };
        const answer = await deps.json.run.readChatAnswer(text, options);
        if (answer.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
        const metadata = prove(deps, requestId, routed, answer);
        const { usage, outputBytes, incompleteReason, contentSha256 } = answer;
        const [before, after] = responseAround(identity, {
          status: incompleteReason === undefined ? 'completed' : 'incomplete',
          model: metadata.model,
          usage: usageSoFar(request, { route, reported: usage, outputBytes }),
          incompleteReason,
          metadata: showsMetadata ? metadata : undefined,
          provenance: isProven ? signProof(deps, { requestId, route, metadata, contentSha256 }) : undefined,
        });
        return {
          body: [Buffer.from(before), answer.body, Buffer.from(after)],
          memory: [answer.body],
          headers: complianceHeadersOf(metadata),
          usage,
          outputBytes,
          ...namesOf(metadata),
        };
      },
    }),
    shapeStream: (routed) => {
      const { route } = routed;
      const tokensMax = route.contextTokensMax;
      const editor = createResponseStream({
        identity,
        showsMetadata,
        tokensMax,
        attribution: routeAttribution(deps, requestId, routed),
        proof: isProven ? openStreamProof(deps, requestId, routed) : undefined,
        bytesMax: deps.streamLimits.eventBytesMax,
        usageOf: ({ usage: reported, outputBytes }) => usageSoFar(request, { route, reported, outputBytes }),
        readLarge: async (data) => (await deps.json.run.readLargeChatChunk(toText(data), { tokensMax })).reading,
      });
      return { editor, tally: editor.tally, names: () => namesOf(editor.metadata()) };
    },
  };
};

/** A request of the Responses format, translated to a chat request. */
interface HeldResponseRequest {
  readonly request: CompletionRequest;
  readonly echo: ResponseEcho;
}

/** Reads a request of the Responses format. Throws `unsupported_parameter`, or the errors of `readRequest`. */
const readResponseRequest = async (
  deps: Pick<KeyRequestDeps, 'json' | 'requestMemory'>,
  source: RequestSource,
): Promise<HeldResponseRequest> => {
  let echo: ResponseEcho = '';
  const request = await receiveRequest(deps, source, async (text) => {
    const reading = await deps.json.run.digestResponseRequest(text, { members: FORWARDED_MEMBERS });
    if (reading.ok) {
      echo = reading.echo;
      return { digest: reading.digest, bytes: reading.body };
    }
    if ('issues' in reading) throw invalidRequest(reading.issues);
    const { param, message } = reading.unsupported;
    throw new AppError('unsupported_parameter', message, { details: { param } });
  });
  return { request, echo };
};

/** Creates an endpoint of the common wire format, which passes requests and answers through. */
const wireEndpoint = (
  service: 'chat' | 'completions' | 'embeddings',
  path: string,
  shape: typeof certifiedShape = certifiedShape,
): Endpoint => ({
  service,
  path,
  read: async (deps, source) => {
    const request = await readRequest(deps, { ...source, kind: service });
    return { request, shape: (shapeDeps, options) => shape(shapeDeps, { ...options, request }) };
  },
});

/** Endpoints that forward requests. Responses are served by chat routes. */
export const endpoints = {
  chat: wireEndpoint('chat', '/chat/completions'),
  completions: wireEndpoint('completions', '/completions'),
  embeddings: wireEndpoint('embeddings', '/embeddings', embeddingsShape),
  responses: {
    service: 'chat',
    path: '/chat/completions',
    read: async (deps, source) => {
      const { request, echo } = await readResponseRequest(deps, source);
      return { request, shape: (shapeDeps, options) => responseShape(shapeDeps, { ...options, request, echo }) };
    },
  },
} as const satisfies Readonly<Record<string, Endpoint>>;
