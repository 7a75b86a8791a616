/* capture DEVICE FILE: the TCP data that passes a network device, until SIGTERM: one line per
 * packet, "ns out|in bytes source:port>target:port sequence". The kernel's time-stamps
 * (CLOCK_REALTIME): of what leaves, when the rate limit has let it go. Root only. */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static volatile sig_atomic_t over;

static void stop(int signal)
{
    (void)signal;
    over = 1;
}

/* Bytes of user data in a packet, 0 for anything but TCP over IPv4. */
static int data_bytes(const unsigned char *packet, ssize_t length)
{
    const struct iphdr *ip = (const void *)packet;
    if (length < 40 || ip->version != 4 || ip->protocol != IPPROTO_TCP)
        return 0;
    const struct tcphdr *tcp = (const void *)(packet + 4 * ip->ihl);
    return ntohs(ip->tot_len) - 4 * ip->ihl - 4 * tcp->doff;
}

/* Of which connection a packet with data is, and where in its stream. */
static void print_stream(FILE *out, const unsigned char *packet)
{
    const struct iphdr *ip = (const void *)packet;
    const struct tcphdr *tcp = (const void *)(packet + 4 * ip->ihl);
    char source[INET_ADDRSTRLEN], target[INET_ADDRSTRLEN];
    inet_ntop(AF_INET, &ip->saddr, source, sizeof source);
    inet_ntop(AF_INET, &ip->daddr, target, sizeof target);
    fprintf(out, " %s:%d>%s:%d %u\n", source, ntohs(tcp->source), target, ntohs(tcp->dest),
            ntohl(tcp->seq));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    int on = 1, room = 64 << 20;
    int s = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
    struct sockaddr_ll where = {.sll_family = AF_PACKET,
                                .sll_protocol = htons(ETH_P_ALL),
                                .sll_ifindex = (int)if_nametoindex(argv[1])};
    FILE *out = fopen(argv[2], "w");
    struct timeval patience = {.tv_usec = 100000};
    if (s < 0 || !out || bind(s, (struct sockaddr *)&where, sizeof where) ||
        setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) ||
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)) {
        perror("capture");
        return 1;
    }
    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    printf("ready\n");
    fflush(stdout);
    while (!over) {
        unsigned char packet[128];
        union {
            struct cmsghdr align;
            char bytes[256];
        } control;
        struct sockaddr_ll from;
        struct iovec part = {packet, sizeof packet};
        struct msghdr message = {.msg_name = &from,
                                 .msg_namelen = sizeof from,
                                 .msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control.bytes,
                                 .msg_controllen = sizeof control};
        ssize_t got = recvmsg(s, &message, MSG_TRUNC);
        int bytes = got > 0 ? data_bytes(packet, got) : 0;
        if (bytes <= 0)
            continue;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
                struct timespec at;
                memcpy(&at, CMSG_DATA(c), sizeof at);
                fprintf(out, "%lld %s %d", at.tv_sec * 1000000000LL + at.tv_nsec,
                        from.sll_pkttype == PACKET_OUTGOING ? "out" : "in", bytes);
                print_stream(out, packet);
            }
    }
    struct tpacket_stats lost = {0};
    socklen_t size = sizeof lost;
    getsockopt(s, SOL_PACKET, PACKET_STATISTICS, &lost, &size);
    fprintf(out, "lost %u\n", lost.tp_drops);
    return fclose(out) != 0;
}
