/** An account that has paid, and a key that spends its money. */
export interface FundedKey {
  /** Sent as `Authorization: Bearer`. */
  readonly key: string;
  /** Reads what is left of the money once nothing runs; undefined while something does. */
  readonly rest: () => Promise<Rest | undefined>;
}

/** The rest of an account's money, in micro-units. */
export interface Rest {
  readonly availableMicros: number;
  /** Kept for requests whose outcome nothing tells, because a process was killed: not available, and not charged yet. */
  readonly unknownMicros: number;
}

/** A gateway that holds prepaid money, as the driver sees it: any product, by an adapter. */
export interface MoneyGateway {
  readonly name: string;
  /** Base URLs of its replicas, each followed by `/v1/chat/completions`. */
  readonly urls: () => readonly string[];
  /** Model that leads to the provider of the run. */
  readonly model: string;
  /** Opens an account with this money, and a key without other limits. */
  readonly fund: (micros: number) => Promise<FundedKey>;
  /** Kills a process of the gateway without warning and starts it again; resolves when it is up. Numbers count kills. */
  readonly kill: (turn: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The provider of a run: in the common wire format, with a count of what it has generated. */
export interface CountingProvider {
  readonly url: string;
  readonly key: string;
}

/** Module that `--adapter <file>` names. */
export interface MoneyGatewayAdapter {
  readonly openGateway: (provider: CountingProvider) => Promise<MoneyGateway>;
}
