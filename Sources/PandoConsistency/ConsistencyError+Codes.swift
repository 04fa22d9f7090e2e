extension ConsistencyError.Code {
  /// `map` or `merge` returned a model of another type; the model stays unchanged.
  public static var wrongType: Self { Self(rawValue: "wrongType") }
  /// Models of two types can't be merged, or not in all fields; the other fields stay unchanged.
  public static var mergeFailed: Self { Self(rawValue: "mergeFailed") }
  /// One tree contains an identifier several times with different content; the last one is used.
  public static var conflictingContent: Self { Self(rawValue: "conflictingContent") }
  /// A model's `map` leaves out a child that its `forEach` visits.
  ///
  /// The child is replaced through the model's coding. If that leaves it out too, the child stays
  /// unchanged.
  public static var childrenDisagree: Self { Self(rawValue: "childrenDisagree") }
  /// An identifier occurs inside its own subtree; the tree is refused.
  public static var cyclicModel: Self { Self(rawValue: "cyclicModel") }
  /// An identifier is empty; the tree is refused.
  public static var emptyIdentifier: Self { Self(rawValue: "emptyIdentifier") }
  /// Models are nested deeper than the limit; the tree is refused, or stays unchanged.
  public static var nestingTooDeep: Self { Self(rawValue: "nestingTooDeep") }
  /// A model to delete has no identifier; nothing changes.
  public static var missingIdentifier: Self { Self(rawValue: "missingIdentifier") }
  /// A listener has too many queued callbacks; it pauses until they are delivered.
  public static var backlogLimitReached: Self { Self(rawValue: "backlogLimitReached") }
  /// A listener or provider was added to a second batch; it stays in the first one.
  public static var memberOfAnotherBatch: Self { Self(rawValue: "memberOfAnotherBatch") }
}
