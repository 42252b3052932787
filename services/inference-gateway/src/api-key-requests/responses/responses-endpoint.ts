import { AppError, invalidRequest } from '@svc/service-kit';
import {
  type HeldRequest,
  type RequestBounds,
  type RequestSource,
  type ResponseShape,
  receiveRequest,
  usageSoFar,
} from '../../forwarding/index.ts';
import { jsonResponseLimits, toText } from '../../large-json/index.ts';
import { FORWARDED_MEMBERS } from '../../providers/index.ts';
import { namesOf, openStreamProof, prove, routeAttribution, signProof } from '../attribution.ts';
import { type ComplianceMode, complianceHeadersOf } from '../compliance.ts';
import type { KeyRequestDeps, ProofDeps } from '../key-request-deps.ts';
import type { Endpoint } from '../serve-key-request.ts';
import { createResponseStream } from './create-response-stream.ts';
import { type ResponseEcho, type ResponseIdentity, responseAround } from './response-object.ts';

interface ResponsesShapeOptions {
  readonly mode: ComplianceMode;
  readonly requestId: string;
  /** True if the caller asks for a proof of provenance. */
  readonly isProven: boolean;
  readonly request: RequestBounds;
  readonly echo: ResponseEcho;
}

/** Shapes chat responses in the Responses format, with proof of provider and model. */
const responsesShape = (
  deps: ProofDeps & Pick<KeyRequestDeps, 'json' | 'streamLimits'>,
  { mode, requestId, isProven, request, echo }: ResponsesShapeOptions,
): ResponseShape => {
  const tail = requestId.slice('req_'.length);
  const identity: ResponseIdentity = { tail, createdAt: Math.floor(deps.clock() / 1000), echo };
  const showsMetadata = mode === 'full';
  return {
    // The events are ours in every mode.
    sendsComments: true,
    openReader: () => ({
      limits: jsonResponseLimits(),
      shape: async (routed, text) => {
        const { route } = routed;
        const options = { tail, contextTokensMax: route.contextTokensMax, digestsMessages: isProven };
        const response = await deps.json.run.readChatResponse(text, options);
        if (response.isAmbiguous) throw new AppError('provider_attribution_ambiguous');
        const metadata = prove(deps, requestId, routed, response);
        const { usage, outputBytes, incompleteReason, contentSha256 } = response;
        const [before, after] = responseAround(identity, {
          status: incompleteReason === undefined ? 'completed' : 'incomplete',
          model: metadata.model,
          usage: usageSoFar(request, { route, reported: usage, outputBytes }),
          incompleteReason,
          metadata: showsMetadata ? metadata : undefined,
          provenance: isProven ? signProof(deps, { requestId, route, metadata, contentSha256 }) : undefined,
        });
        return {
          body: [Buffer.from(before), response.body, Buffer.from(after)],
          memory: [response.body],
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
  readonly request: HeldRequest;
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

/** The endpoint of the Responses format, which chat routes serve. */
export const responsesEndpoint: Endpoint = {
  service: 'chat',
  path: '/chat/completions',
  read: async (deps, source) => {
    const { request, echo } = await readResponseRequest(deps, source);
    return { request, shape: (shapeDeps, options) => responsesShape(shapeDeps, { ...options, request, echo }) };
  },
};
