extension ConsistencyError.Code {
  /// `map` or `merge` returned a model of another type; the model stays as it was.
  public static var wrongType: Self { Self(rawValue: "wrongType") }
  /// Two types of one identifier can't be merged, or not in every field; what can't stays as it was.
  public static var mergeFailed: Self { Self(rawValue: "mergeFailed") }
  /// One tree holds an identifier several times with different content; the last one counts.
  public static var conflictingContent: Self { Self(rawValue: "conflictingContent") }
  /// A model's `map` leaves out a child that its `forEach` names; the child is replaced through the
  /// model's coding, or stays as it was if that leaves it out, too.
  public static var childrenDisagree: Self { Self(rawValue: "childrenDisagree") }
  /// An identifier occurs inside its own subtree; the tree is refused.
  public static var cyclicModel: Self { Self(rawValue: "cyclicModel") }
  /// An identifier is empty; the tree is refused.
  public static var emptyIdentifier: Self { Self(rawValue: "emptyIdentifier") }
  /// Models are nested deeper than the limit; the tree is refused.
  public static var nestingTooDeep: Self { Self(rawValue: "nestingTooDeep") }
  /// What is to be deleted has no identifier; nothing happens.
  public static var missingIdentifier: Self { Self(rawValue: "missingIdentifier") }
  /// A listener has too many callbacks waiting; it stands still and catches up with one callback.
  public static var backlogLimitReached: Self { Self(rawValue: "backlogLimitReached") }
  /// A listener was put into a second batch; it stays in the first one.
  public static var memberOfAnotherBatch: Self { Self(rawValue: "memberOfAnotherBatch") }
}
