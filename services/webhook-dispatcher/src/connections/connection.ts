/** A user and an app, as the facts of auth tell of them. */
export interface ConnectionKey {
  readonly userId: string;
  readonly clientId: string;
}

/** A connection in its current state; one that has ended is kept, so that it is not taken for a new one. */
export interface Connection extends ConnectionKey {
  readonly isConnected: boolean;
  readonly scope: string;
  readonly connectedAt: Date;
  /** The newest revision of the user's subscription that this app was told. */
  readonly toldRevision: number;
}
