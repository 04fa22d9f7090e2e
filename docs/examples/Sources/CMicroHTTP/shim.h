#ifndef MICRO_HTTP_SHIM_H
#define MICRO_HTTP_SHIM_H

#include <arpa/inet.h>
#include <microhttpd.h>
#include <string.h>

// Swift calls no C function whose arguments vary in number; these two stand before those that do.

/* Leaves %2F and the like in a path: who splits the path at its slashes decodes the parts. */
static inline size_t micro_http_keep_escapes(
    void *context, struct MHD_Connection *connection, char *text) {
  return strlen(text);
}

/* Starts a server on 127.0.0.1, with one thread, on which it calls `handle` and `completed`. */
static inline struct MHD_Daemon *micro_http_start(
    uint16_t port, unsigned int idle_seconds, MHD_AccessHandlerCallback handle,
    MHD_RequestCompletedCallback completed, void *context) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, handle, context,
      MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_UNESCAPE_CALLBACK, micro_http_keep_escapes, NULL,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, MHD_OPTION_END);
}

/* The port on which a server listens. */
static inline uint16_t micro_http_port(struct MHD_Daemon *daemon) {
  return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

#endif
