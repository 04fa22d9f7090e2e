#if PostgreSQL
  // The protocol of a log, and the types of its configuration.
  @_exported public import PandoReplication
#endif
